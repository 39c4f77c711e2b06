// Instance types that Elastic Container Instance offers, and what they cost (manifests/eci-catalogue.yaml).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/base/result.h"

namespace tfemu::api {

struct EciType {
  std::string_view name, family;  // ecs.gn7i-c8g1.2xlarge, ecs.gn7i
  int vcpus, memory_gib, gpus;
  std::string_view gpu_model;  // as GpuModels calls it
  bool nvlink;
  bool eci;       // false: bare metal, which ECI has not
  double hourly;  // CNY; 0: not known
};
std::span<const EciType> EciTypes();

struct EciPrices {
  double vcpu_hour, economy_vcpu_hour, memory_gib_hour;  // CNY
};
EciPrices EciUnitPrices();

// One item of eci-use-specs: an instance type, or vCPU and memory.
struct EciSpec {
  const EciType* type = nullptr;
  double vcpus = 0, memory_gib = 0;  // the type's, when there is one
  int gpus() const { return type == nullptr ? 0 : type->gpus; }
  std::string Text() const;  // ecs.gn7i-c8g1.2xlarge, or 2.0-4.0Gi as eci-instance-spec says it
};
// "ecs.c6.xlarge", "2-4Gi". An unknown type is refused with the near ones.
Result<EciSpec> ParseEciSpec(const std::string& text);

// The smallest pair of vCPU and memory that ECI sells and that holds both ("Limits" of its documentation);
// nullopt when there is none so large. 0 and 0 give what a container without requests gets: 1 and 2.
std::optional<EciSpec> RoundUpEci(double vcpus, double memory_gib);

// CNY an hour; nullopt when it is not known.
std::optional<double> EciHourlyPrice(const EciSpec& spec, bool economy);

}  // namespace tfemu::api
