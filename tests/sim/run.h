// One seed: a workload and a fault plan are drawn from it, told to a simulated host and judged.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tfemu::sim {

struct Report {
  std::string drawn;                    // everything that was drawn, for people
  std::vector<std::string> complaints;  // empty: the run is as it should be
  uint64_t trace = 0;                   // a hash of all that happened, in order
  uint64_t effects = 0;                 // writes and messages
  int boots = 0;
};

// `out` is null, or gets each thing that happens as a line.
Report RunSeed(uint64_t seed, std::FILE* out = nullptr);

}  // namespace tfemu::sim
