// What a pod's ECI instance costs: an instance is billed from when its images are fetched until its pod has
// ended (ECI documentation, "Billing of elastic container instances").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/base/executor.h"

namespace tfemu::api {

struct EciBill {
  std::string id, spec;
  std::optional<double> hourly;  // CNY; nullopt when the price of the type is not known
  Instant from;
  std::optional<Instant> to;  // unset while it runs

  double Amount(Instant now) const;  // CNY, 0 without a price
};
std::optional<EciBill> EciBillOf(const Object& pod);

// "3 ECI instances, 1.2043 CNY/h, 0.0021 CNY so far; no price for ecs.gn7i-c8g1.2xlarge (…)"; "" for none.
std::string SumOfBills(const std::vector<EciBill>& bills, Instant now);
std::string Cny(double amount);  // four decimals

}  // namespace tfemu::api
