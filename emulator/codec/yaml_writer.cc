#include "emulator/codec/yaml_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/codec/blanks.h"
#include "emulator/codec/yaml_scalar.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;

std::string DoubleQuoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string SingleQuoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

bool HasControls(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f; });
}

// A literal block keeps a text byte for byte unless a line of it begins with a blank where the indentation
// would be guessed, or it holds control characters.
bool FitsLiteralBlock(const std::string& text) {
  if (text.find('\n') == std::string::npos || HasControls(text)) return false;
  const size_t first = text.find_first_not_of('\n');
  return first != std::string::npos && text[first] != ' ' && text.front() != '\n' &&
         text.find(" \n") == std::string::npos && !text.ends_with(' ');
}

std::string LiteralBlock(const std::string& text, size_t indent) {
  size_t trailing = 0;
  while (trailing < text.size() && text[text.size() - 1 - trailing] == '\n') ++trailing;
  std::string out = trailing == 0 ? "|-" : trailing == 1 ? "|" : "|+";
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += '\n';
    if (end > begin) out += std::string(indent, ' ') + text.substr(begin, end - begin);
    begin = end + 1;
  }
  return out;
}

std::string Text(const std::string& text, size_t indent) {
  if (FitsLiteralBlock(text)) return LiteralBlock(text, indent);
  if (HasControls(text) || text.find('\n') != std::string::npos) return DoubleQuoted(text);
  if (MisplacedOddBlank(text)) return DoubleQuoted(text);
  if (!NeedsQuotes(text)) return text;
  const auto plain = ResolvePlainScalar(text);
  const bool other_type = text.empty() || LooksLikeDate(text) || !plain.ok() || !plain.value().is_string();
  return other_type ? DoubleQuoted(text) : SingleQuoted(text);
}

std::string Scalar(const json& value, size_t indent) {
  if (value.is_string()) return Text(value.get_ref<const std::string&>(), indent);
  if (value.is_object()) return "{}";
  if (value.is_array()) return "[]";
  return value.dump();
}

bool IsBlock(const json& value) { return value.is_structured() && !value.empty(); }

void Write(const json& value, size_t indent, std::string& out);

void WriteList(const json& list, size_t indent, std::string& out) {
  for (const auto& item : list) {
    out += std::string(indent, ' ') + "- ";
    if (!IsBlock(item)) {
      out += Scalar(item, indent + 2) + "\n";
      continue;
    }
    // The item's first line continues the dash's.
    std::string nested;
    Write(item, indent + 2, nested);
    out += nested.substr(indent + 2);
  }
}

void Write(const json& value, size_t indent, std::string& out) {
  if (value.is_array()) {
    WriteList(value, indent, out);
    return;
  }
  for (const auto& [key, member] : value.items()) {
    out += std::string(indent, ' ') + Text(key, indent + 2) + ":";
    if (!IsBlock(member)) {
      out += " " + Scalar(member, indent + 2) + "\n";
      continue;
    }
    out += "\n";
    Write(member, member.is_array() ? indent : indent + 2, out);
  }
}

}  // namespace

std::string WriteYaml(const json& value) {
  if (!IsBlock(value)) return Scalar(value, 0) + "\n";
  std::string out;
  Write(value, 0, out);
  return out;
}

}  // namespace tfemu::codec
