#include "emulator/codec/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "emulator/base/strings.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;

template <size_t N>
bool OneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                    "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                     "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};

// Digits of `base` with an optional sign and prefix already cut off.
std::optional<json> Digits(std::string_view digits, int base, bool negative) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc() || stop != end) return std::nullopt;
  if (!negative) return value <= INT64_MAX ? json(static_cast<int64_t>(value)) : json(value);
  if (value > static_cast<uint64_t>(INT64_MAX) + 1) return std::nullopt;
  return json(static_cast<int64_t>(0 - value));
}

std::optional<json> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0') {
    const char prefix = text[1];
    if (prefix == 'x' || prefix == 'X') return Digits(text.substr(2), 16, negative);
    if (prefix == 'b' || prefix == 'B') return Digits(text.substr(2), 2, negative);
    if (prefix == 'o' || prefix == 'O') return Digits(text.substr(2), 8, negative);
  }
  if (text.size() > 1 && text[0] == '0') return Digits(text.substr(1), 8, negative);
  return Digits(text, 10, negative);
}

// [-+]? ( .digits | digits[.digits] ) [ e[-+]digits ]
bool LooksLikeFloat(std::string_view text) {
  const auto skip_digits = [&text] {
    size_t n = 0;
    while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
    text.remove_prefix(n);
    return n;
  };
  const auto skip_sign = [&text] {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  };
  skip_sign();
  size_t digits = skip_digits();
  const bool leading = digits > 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += skip_digits();
    if (!leading && digits == 0) return false;
  }
  if (digits == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    skip_sign();
    if (skip_digits() == 0) return false;
  }
  return text.empty();
}

bool IsInfinityOrNan(std::string_view text) {
  if (OneOf(text, std::array<std::string_view, 3>{".nan", ".NaN", ".NAN"})) return true;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return OneOf(text, std::array<std::string_view, 3>{".inf", ".Inf", ".INF"});
}

}  // namespace

Result<json> ResolvePlainScalar(const std::string& text) {
  if (OneOf(text, kNull)) return json(nullptr);
  if (OneOf(text, kTrue)) return json(true);
  if (OneOf(text, kFalse)) return json(false);
  const char first = text.front();
  if ((first < '0' || first > '9') && first != '-' && first != '+' && first != '.') return json(text);
  if (IsInfinityOrNan(text)) return Error{Reason::kInvalid, "the number " + text + " has no JSON form"};
  std::string bare = text;
  std::erase(bare, '_');
  if (auto integer = Integer(bare)) return *integer;
  if (LooksLikeFloat(bare)) return json(std::strtod(bare.c_str(), nullptr));
  return json(text);
}

bool LooksLikeDate(const std::string& text) {
  return text.size() >= 10 && text[4] == '-' && text[7] == '-' && text[0] >= '0' && text[0] <= '9';
}

bool NeedsQuotes(const std::string& text) {
  if (text.empty()) return true;
  const auto resolved = ResolvePlainScalar(text);
  if (!resolved.ok() || !resolved.value().is_string()) return true;
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@` ";
  const char first = text.front();
  if (kIndicators.find(first) != std::string_view::npos) {
    const bool dash_word =
        (first == '-' || first == '?' || first == ':') && text.size() > 1 && text[1] != ' ';
    if (!dash_word || text.starts_with("---")) return true;
  }
  if (text == "<<" || text == "=" || text.back() == ' ' || text.back() == ':') return true;
  if (text.find(": ") != std::string::npos || text.find(" #") != std::string::npos) return true;
  if (LooksLikeDate(text)) return true;
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace tfemu::codec
