#include "emulator/api/decode.h"

namespace tfemu::api {
namespace {

const nlohmann::json kNull;
const nlohmann::json kEmptyArray = nlohmann::json::array();

}  // namespace

const nlohmann::json& Member(const nlohmann::json& object, std::string_view name) {
  if (!object.is_object()) return kNull;
  const auto it = object.find(name);
  return it == object.end() ? kNull : *it;
}

const nlohmann::json& Items(const nlohmann::json& object, std::string_view name) {
  const auto& member = Member(object, name);
  return member.is_array() ? member : kEmptyArray;
}

std::string Text(const nlohmann::json& object, std::string_view name) {
  const auto& member = Member(object, name);
  return member.is_string() ? member.get<std::string>() : std::string();
}

std::optional<int64_t> Int(const nlohmann::json& object, std::string_view name) {
  const auto& member = Member(object, name);
  if (!member.is_number_integer()) return std::nullopt;
  return member.get<int64_t>();
}

bool Bool(const nlohmann::json& object, std::string_view name, bool otherwise) {
  const auto& member = Member(object, name);
  return member.is_boolean() ? member.get<bool>() : otherwise;
}

std::vector<std::string> Texts(const nlohmann::json& object, std::string_view name) {
  std::vector<std::string> texts;
  for (const auto& item : Items(object, name))
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

void SetDefault(nlohmann::json& object, std::string_view name, nlohmann::json value) {
  auto& member = object[std::string(name)];
  if (member.is_null()) member = std::move(value);
}

}  // namespace tfemu::api
