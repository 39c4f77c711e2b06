// Short stories that are told again and again, with the daemon dying somewhere in between.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/sim_host.h"

namespace tfemu::sim {

struct Scenario {
  std::string name;
  struct Step {
    Duration at;
    SimHost::Deed deed;
  };
  std::vector<Step> steps;
  Duration length;  // it has come to its end by then, crash or not
};
std::vector<Scenario> Scenarios();

// Deeds that may be repeated.
SimHost::Deed Create(api::Json manifest);
SimHost::Deed Delete(api::ObjectKey key);
SimHost::Deed Patch(api::ObjectKey key, api::Json patch);

}  // namespace tfemu::sim
