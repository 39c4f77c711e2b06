#include "emulator/api/quantity.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace tfemu::api {
namespace {

struct Suffix {
  std::string_view text;
  double milli;
};

constexpr double kKibi = 1024.0;
constexpr std::array<Suffix, 15> kSuffixes = {{
    {"Ki", 1e3 * kKibi},
    {"Mi", 1e3 * kKibi* kKibi},
    {"Gi", 1e3 * kKibi* kKibi* kKibi},
    {"Ti", 1e3 * kKibi* kKibi* kKibi* kKibi},
    {"Pi", 1e3 * kKibi* kKibi* kKibi* kKibi* kKibi},
    {"n", 1e-6},
    {"u", 1e-3},
    {"m", 1},
    {"", 1e3},
    {"k", 1e6},
    {"M", 1e9},
    {"G", 1e12},
    {"T", 1e15},
    {"P", 1e18},
    {"E", 1e21},
}};

}  // namespace

std::optional<Quantity> ParseQuantity(std::string_view text) {
  const std::string copy(text);
  if (copy.empty() ||
      (copy[0] != '+' && copy[0] != '-' && copy[0] != '.' && (copy[0] < '0' || copy[0] > '9')))
    return std::nullopt;
  char* end = nullptr;
  double number = std::strtod(copy.c_str(), &end);
  // strtod would take the E of "1E" only with digits after it, and hexadecimal never belongs here.
  if (copy.find_first_of("xXpPiI") < static_cast<size_t>(end - copy.c_str())) return std::nullopt;
  const std::string_view rest = std::string_view(copy).substr(static_cast<size_t>(end - copy.c_str()));
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text != rest) continue;
    const double milli = std::ceil(number * suffix.milli - 1e-9);
    if (!(std::fabs(milli) < 9.2e18)) return std::nullopt;
    return Quantity{static_cast<int64_t>(milli)};
  }
  return std::nullopt;
}

std::optional<Quantity> DecodeQuantity(const nlohmann::json& value) {
  if (value.is_string()) return ParseQuantity(value.get_ref<const std::string&>());
  if (value.is_number()) return ParseQuantity(value.dump());
  return std::nullopt;
}

Resources DecodeResources(const nlohmann::json& value) {
  Resources resources;
  if (!value.is_object()) return resources;
  for (const auto& [name, amount] : value.items())
    if (const auto quantity = DecodeQuantity(amount)) resources[name] = *quantity;
  return resources;
}

std::string FormatQuantity(Quantity quantity, bool binary) {
  if (quantity.milli % 1000 != 0) return std::to_string(quantity.milli) + "m";
  int64_t units = quantity.milli / 1000;
  constexpr std::array<const char*, 6> kBinary = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  constexpr std::array<const char*, 6> kDecimal = {"", "k", "M", "G", "T", "P"};
  size_t power = 0;
  for (const int64_t base = binary ? 1024 : 1000;
       units != 0 && units % base == 0 && power + 1 < kBinary.size(); ++power)
    units /= base;
  return std::to_string(units) + (binary ? kBinary : kDecimal)[power];
}

void Add(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] = sum[name] + amount;
}

}  // namespace tfemu::api
