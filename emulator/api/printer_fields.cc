#include "emulator/api/printer_fields.h"

#include <algorithm>
#include <array>
#include <utility>

#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

const Json kNull;
const Json kEmptyList = Json::array();

}  // namespace

const Json& Field(const Json& doc, std::string_view path) {
  const Json* at = &doc;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    if (!at->is_object()) return kNull;
    const auto next = at->find(std::string(path.substr(0, end)));
    if (next == at->end()) return kNull;
    at = &*next;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return *at;
}

std::string FieldText(const Json& doc, std::string_view path) {
  const Json& value = Field(doc, path);
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() || value.is_boolean() ? value.dump() : std::string();
}

int64_t FieldInt(const Json& doc, std::string_view path) {
  const Json& value = Field(doc, path);
  return value.is_number() ? value.get<int64_t>() : 0;
}

const Json& FieldList(const Json& doc, std::string_view path) {
  const Json& value = Field(doc, path);
  return value.is_array() ? value : kEmptyList;
}

std::string TextOr(std::string text, std::string_view fallback) {
  return text.empty() ? std::string(fallback) : text;
}

std::string AgeSince(const std::string& time, Instant now) {
  const auto then = ParseTime(time);
  return then ? FormatAge(now - *then) : "<unknown>";
}

std::string AgeOf(const Json& doc, Instant now) {
  return AgeSince(FieldText(doc, "metadata.creationTimestamp"), now);
}

std::string JoinLabels(const Json& labels, std::string_view separator) {
  std::vector<std::string> parts;
  if (labels.is_object())
    for (const auto& [key, value] : labels.items())
      parts.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  return parts.empty() ? "<none>" : Join(parts, separator);
}

std::string FormatAccessModes(const Json& modes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort = {
      {{"ReadWriteOnce", "RWO"},
       {"ReadOnlyMany", "ROX"},
       {"ReadWriteMany", "RWX"},
       {"ReadWriteOncePod", "RWOP"}}};
  std::vector<std::string> words;
  if (!modes.is_array()) return {};
  for (const auto& [mode, word] : kShort)
    if (std::ranges::find(modes, Json(mode)) != modes.end()) words.emplace_back(word);
  return Join(words, ",");
}

std::string ContainerColumn(const Json& doc, std::string_view template_path, std::string_view field) {
  std::vector<std::string> parts;
  for (const auto& container : FieldList(doc, template_path)) parts.push_back(FieldText(container, field));
  return Join(parts, ",");
}

}  // namespace tfemu::api
