#include "emulator/api/eci_catalogue.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

#include "eci_catalogue.inc"

struct Row {
  double vcpus;
  std::vector<double> memory_gib;
};
const std::vector<Row>& Pairs() {
  static const std::vector<Row> kPairs = {
      {0.25, {0.5, 1}},         {0.5, {1, 2}},           {1, {2, 4, 8}},
      {2, {1, 2, 4, 8, 16}},    {4, {2, 4, 8, 16, 32}},  {8, {4, 8, 16, 32, 64}},
      {12, {12, 24, 48, 96}},   {16, {16, 32, 64, 128}}, {24, {24, 48, 96, 192}},
      {32, {32, 64, 128, 256}}, {52, {96, 192, 384}},    {64, {128, 256, 512}}};
  return kPairs;
}

std::string OneDecimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 1 ? "%.2f" : "%.1f", value);
  return text;
}

std::string NearTypes(const std::string& wanted) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const EciType& type : kTypes)
    if (type.eci) near.emplace_back(EditDistance(wanted, type.name), type.name);
  std::ranges::stable_sort(near, {}, &std::pair<size_t, std::string>::first);
  std::vector<std::string> names;
  for (const auto& [distance, name] : near)
    if (names.size() < 3) names.push_back(name);
  return Join(names, ", ");
}

Result<EciSpec> ParsePair(const std::string& text) {
  char* end = nullptr;
  const double vcpus = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '-') return Error{Reason::kInvalid, ""};
  const char* memory = end + 1;
  const double gib = std::strtod(memory, &end);
  if (end == memory || std::string_view(end) != "Gi" || vcpus <= 0 || gib <= 0)
    return Error{Reason::kInvalid, ""};
  return EciSpec{nullptr, vcpus, gib};
}

}  // namespace

std::span<const EciType> EciTypes() { return kTypes; }
EciPrices EciUnitPrices() { return kPrices; }

std::string EciSpec::Text() const {
  return type != nullptr ? std::string(type->name) : OneDecimal(vcpus) + "-" + OneDecimal(memory_gib) + "Gi";
}

Result<EciSpec> ParseEciSpec(const std::string& text) {
  if (!text.starts_with("ecs.")) {
    auto pair = ParsePair(text);
    if (pair.ok()) return pair;
    return Error{Reason::kInvalid, "\"" + text + "\" is neither an instance type nor vCPU-memory",
                 "such as ecs.gn7i-c8g1.2xlarge or 2-4Gi"};
  }
  const auto type = std::ranges::find(kTypes, text, &EciType::name);
  if (type == std::end(kTypes))
    return Error{Reason::kNotFound, "instance type " + text + " is not in the catalogue",
                 "near it: " + NearTypes(text)};
  if (!type->eci)
    return Error{Reason::kInvalid, "instance type " + text + " is bare metal, which ECI does not offer",
                 "near it: " + NearTypes(text)};
  return EciSpec{&*type, static_cast<double>(type->vcpus), static_cast<double>(type->memory_gib)};
}

std::optional<EciSpec> RoundUpEci(double vcpus, double memory_gib) {
  if (vcpus <= 0 && memory_gib <= 0) return EciSpec{nullptr, 1, 2};
  for (const Row& row : Pairs()) {
    if (row.vcpus < vcpus) continue;
    for (const double gib : row.memory_gib)
      if (gib >= memory_gib) return EciSpec{nullptr, row.vcpus, gib};
  }
  return std::nullopt;
}

std::optional<double> EciHourlyPrice(const EciSpec& spec, bool economy) {
  if (spec.type != nullptr && spec.type->hourly > 0) return spec.type->hourly;
  if (spec.type != nullptr) return std::nullopt;
  const double vcpu = economy ? kPrices.economy_vcpu_hour : kPrices.vcpu_hour;
  return spec.vcpus * vcpu + spec.memory_gib * kPrices.memory_gib_hour;
}

}  // namespace tfemu::api
