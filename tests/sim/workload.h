// What users ask for in a run, and what has to come of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emulator/base/rng.h"
#include "tests/sim/checker.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {

struct Wish {
  std::string text;  // for whoever reads of a failure
  struct Step {
    Duration at;
    SimHost::Deed deed;
  };
  std::vector<Step> steps;
  // Why the end is not what it should be, or "". `lossy`: programs may have been killed by a fault.
  std::function<std::string(const SimHost& host, bool lossy)> verdict;
};

std::vector<Wish> DrawWorkload(Rng rng);

}  // namespace tfemu::sim
