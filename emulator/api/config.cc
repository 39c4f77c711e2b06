#include "emulator/api/config.h"

#include <array>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/validation.h"

namespace tfemu::api {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void CheckBase64(const Json& doc, const char* member, Messages& messages) {
  const Json& data = Member(doc, member);
  if (!data.is_object()) return;
  std::string bytes;
  for (const auto& [key, value] : data.items())
    if (value.is_string() && !DecodeBase64(value.get_ref<const std::string&>(), bytes))
      messages.push_back({std::string(member) + "." + key, "illegal base64 data"});
}

void CheckImmutable(const Json& doc, const Json* previous, Messages& messages) {
  if (previous == nullptr || !Bool(*previous, "immutable")) return;
  for (const char* member : {"data", "binaryData"})
    if (Member(doc, member) != Member(*previous, member))
      messages.push_back({member, "Forbidden: field is immutable when `immutable` is set"});
}

}  // namespace

std::string EncodeBase64(const std::string& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      text += j <= bytes.size() - i ? kAlphabet[(group >> (18 - 6 * j)) & 63u] : '=';
  }
  return text;
}

bool DecodeBase64(const std::string& text, std::string& bytes) {
  bytes.clear();
  uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == '=') continue;
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return false;
    group = group << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) bytes += static_cast<char>(group >> (bits -= 8) & 255u);
  }
  return true;
}

std::map<std::string, std::string> DecodeConfigMap(const Object& object) {
  auto data = DecodeLabelMap(Member(object.doc(), "data"));
  for (auto& [key, text] : DecodeLabelMap(Member(object.doc(), "binaryData"))) DecodeBase64(text, data[key]);
  return data;
}

std::map<std::string, std::string> DecodeSecret(const Object& object) {
  std::map<std::string, std::string> data;
  for (const auto& [key, text] : DecodeLabelMap(Member(object.doc(), "data"))) DecodeBase64(text, data[key]);
  return data;
}

void SetSecretDefaults(Json& secret) {
  SetDefault(secret, "type", "Opaque");
  for (const auto& [key, text] : DecodeLabelMap(Member(secret, "stringData")))
    secret["data"][key] = EncodeBase64(text);
  secret.erase("stringData");
}

std::vector<FieldMessage> ValidateConfigMap(const Json& config, const Json* previous) {
  Messages messages;
  CheckMeta(config, messages);
  CheckBase64(config, "binaryData", messages);
  CheckImmutable(config, previous, messages);
  return messages;
}

std::vector<FieldMessage> ValidateSecret(const Json& secret, const Json* previous) {
  Messages messages;
  CheckMeta(secret, messages);
  CheckBase64(secret, "data", messages);
  CheckImmutable(secret, previous, messages);
  return messages;
}

Json MakeNamespace(const std::string& name) {
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::object({{"name", name}})}});
}

void SetNamespaceDefaults(Json& ns) {
  const std::string name = Text(Member(ns, "metadata"), "name");
  SetDefault(ns["metadata"], "labels", Json::object());
  ns["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
  SetDefault(ns["spec"], "finalizers", Json::array({"kubernetes"}));
  SetDefault(ns["status"], "phase", "Active");
}

std::vector<FieldMessage> ValidateNamespace(const Json& ns, const Json*) {
  Messages messages;
  CheckMeta(ns, messages);
  const std::string name = Text(Member(ns, "metadata"), "name");
  if (const auto problem = LabelProblem(name); messages.empty() && !problem.empty())
    messages.push_back({"metadata.name", "Invalid value: \"" + name + "\": " + problem});
  return messages;
}

std::vector<FieldMessage> ValidateNothingButName(const Json& doc, const Json*) {
  Messages messages;
  CheckMeta(doc, messages);
  return messages;
}

}  // namespace tfemu::api
