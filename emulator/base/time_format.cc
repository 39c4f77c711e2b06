#include "emulator/base/time_format.h"

#include <cstdio>
#include <ctime>

namespace tfemu {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

std::string Seconds(Instant t) {
  const std::time_t seconds = static_cast<std::time_t>(t.ns / kSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

std::string WithFraction(Instant t, int digits) {
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%09lld", static_cast<long long>(t.ns % kSecond));
  return Seconds(t) + std::string(fraction, static_cast<size_t>(digits) + 1) + "Z";
}

}  // namespace

std::string FormatTime(Instant t) { return Seconds(t) + "Z"; }
std::string FormatMicroTime(Instant t) { return WithFraction(t, 6); }
std::string FormatNanoTime(Instant t) { return WithFraction(t, 9); }

std::optional<Instant> ParseTime(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* rest = strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  int64_t fraction = 0;
  if (*rest == '.') {
    int64_t scale = kSecond / 10;
    for (++rest; *rest >= '0' && *rest <= '9'; ++rest, scale /= 10) fraction += (*rest - '0') * scale;
  }
  if (std::string_view(rest) != "Z") return std::nullopt;
  return Instant{static_cast<int64_t>(timegm(&parts)) * kSecond + fraction};
}

std::string FormatAge(Duration age) {
  const int64_t s = age.count() / kSecond;
  const auto two = [](int64_t big, const char* u, int64_t small, const char* v) {
    return std::to_string(big) + u + (small != 0 ? std::to_string(small) + v : "");
  };
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  if (s < 120) return std::to_string(s) + "s";
  const int64_t m = s / 60, h = m / 60, d = h / 24;
  if (m < 10) return two(m, "m", s % 60, "s");
  if (m < 180) return std::to_string(m) + "m";
  if (h < 8) return two(h, "h", m % 60, "m");
  if (h < 48) return std::to_string(h) + "h";
  if (d < 8) return two(d, "d", h % 24, "h");
  if (d < 730) return std::to_string(d) + "d";
  return two(d / 365, "y", d < 365 * 8 ? d % 365 : 0, "d");
}

std::optional<Duration> ParseDuration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int64_t total = 0;
  while (!text.empty()) {
    size_t digits = 0;
    int64_t value = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9' && digits < 12)
      value = value * 10 + (text[digits++] - '0');
    if (digits == 0) return std::nullopt;
    text.remove_prefix(digits);
    const size_t letters = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view unit = text.substr(0, letters);
    text.remove_prefix(letters);
    if (unit == "ms") total += value * (kSecond / 1000);
    else if (unit == "s" || unit.empty()) total += value * kSecond;
    else if (unit == "m") total += value * 60 * kSecond;
    else if (unit == "h") total += value * 3600 * kSecond;
    else return std::nullopt;
  }
  return Duration{total};
}

}  // namespace tfemu
