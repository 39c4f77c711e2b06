// Seeds as sim-sweep runs them, each twice.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "tests/sim/run.h"

namespace tfemu::sim {
namespace {

TEST_CASE("jobs come to their ends whatever fails") {
  const char* asked = std::getenv("TFEMU_SIM_SEEDS");
  const uint64_t seeds = asked == nullptr ? 200 : std::strtoull(asked, nullptr, 10);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const Report report = RunSeed(seed);
    std::string complaints;
    for (const auto& complaint : report.complaints) complaints += "\n  " + complaint;
    CHECK_MESSAGE(complaints.empty(), report.drawn << complaints
                                                   << "\n  see it again: tools/sim-sweep --seed " << seed
                                                   << " --trace");
    CHECK_MESSAGE(RunSeed(seed).trace == report.trace, "seed " << seed << " took another course");
  }
}

}  // namespace
}  // namespace tfemu::sim
