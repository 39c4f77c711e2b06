#include "emulator/api/validation.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

bool Alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsLabel(std::string_view name) {
  return !name.empty() && Alphanumeric(name.front()) && Alphanumeric(name.back()) &&
         std::ranges::all_of(name, [](char c) { return Alphanumeric(c) || c == '-'; });
}

constexpr const char* kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kDns1035 =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and "
    "end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";

bool LabelValueIsFine(std::string_view value) {
  const auto alnum = [](char c) { return Alphanumeric(c) || (c >= 'A' && c <= 'Z'); };
  if (value.empty()) return true;
  return value.size() <= 63 && alnum(value.front()) && alnum(value.back()) &&
         std::ranges::all_of(value, [&](char c) { return alnum(c) || c == '-' || c == '_' || c == '.'; });
}

void CheckOwners(const nlohmann::json& meta, Messages& messages) {
  for (size_t i = 0; const auto& owner : Items(meta, "ownerReferences")) {
    const std::string path = "metadata.ownerReferences[" + std::to_string(i++) + "].";
    for (const auto& [member, problem] : {std::pair{"apiVersion", "version must not be empty"},
                                          {"kind", "must not be empty"},
                                          {"name", "must not be empty"},
                                          {"uid", "must not be empty"}})
      if (Text(owner, member).empty())
        messages.push_back({path + member, "Invalid value: \"\": " + std::string(problem)});
  }
}

}  // namespace

std::string NameProblem(std::string_view name) {
  if (name.size() > 253) return "must be no more than 253 characters";
  for (const auto& part : Split(name, '.'))
    if (!IsLabel(part)) return kSubdomain;
  return "";
}

std::string LabelProblem(std::string_view name) {
  if (name.size() > 63) return "must be no more than 63 characters";
  return IsLabel(name) ? "" : kLabel;
}

std::string Dns1035Problem(std::string_view name) {
  if (name.size() > 63) return "must be no more than 63 characters";
  return IsLabel(name) && name.front() >= 'a' ? "" : kDns1035;
}

void CheckMeta(const nlohmann::json& doc, Messages& messages) {
  const auto& meta = Member(doc, "metadata");
  const std::string name = Text(meta, "name");
  if (name.empty()) messages.push_back({"metadata.name", "Required value: name or generateName is required"});
  else if (const auto problem = NameProblem(name); !problem.empty())
    messages.push_back({"metadata.name", "Invalid value: \"" + name + "\": " + problem});
  if (const std::string ns = Text(meta, "namespace"); !ns.empty())
    if (const auto problem = LabelProblem(ns); !problem.empty())
      messages.push_back({"metadata.namespace", "Invalid value: \"" + ns + "\": " + problem});
  CheckOwners(meta, messages);
  const auto& labels = Member(meta, "labels");
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.items())
    if (value.is_string() && !LabelValueIsFine(value.get_ref<const std::string&>()))
      messages.push_back(
          {"metadata.labels." + key, "Invalid value: " + value.dump() +
                                         ": a valid label must be an empty string or consist of "
                                         "alphanumeric characters, '-', '_' or '.', and must start and end "
                                         "with an alphanumeric character"});
}

void CheckOneOf(const nlohmann::json& object, const char* member, const std::string& path,
                const std::vector<std::string_view>& allowed, Messages& messages) {
  const auto& value = Member(object, member);
  if (!value.is_string() || std::ranges::find(allowed, value.get_ref<const std::string&>()) != allowed.end())
    return;
  std::string list;
  for (const auto word : allowed) list += (list.empty() ? "\"" : ", \"") + std::string(word) + "\"";
  messages.push_back(
      {path + "." + member, "Unsupported value: " + value.dump() + ": supported values: " + list});
}

void CheckNotNegative(const nlohmann::json& object, const char* member, const std::string& path,
                      Messages& messages) {
  if (const auto value = Int(object, member); value && *value < 0)
    messages.push_back({path + "." + member, "must be >= 0 (got " + std::to_string(*value) + ")"});
}

void CheckRequired(const nlohmann::json& object, const char* member, const std::string& path,
                   Messages& messages) {
  const auto& value = Member(object, member);
  if (value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
      (value.is_array() && value.empty()))
    messages.push_back({path + "." + member, "Required value"});
}

}  // namespace tfemu::api
