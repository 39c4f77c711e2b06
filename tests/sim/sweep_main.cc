// sim-sweep: runs seeds, each twice, and says which of them went wrong and how to see it again.
#include <CLI/CLI.hpp>
#include <cinttypes>
#include <cstdio>
#include <optional>

#include "tests/sim/run.h"

namespace {

using tfemu::sim::Report;
using tfemu::sim::RunSeed;

// Prints what went wrong; false when something did.
bool Try(uint64_t seed, bool trace, uint64_t& effects) {
  Report report = RunSeed(seed, trace ? stdout : nullptr);
  const Report again = RunSeed(seed);
  effects += report.effects;
  if (again.trace != report.trace) report.complaints.push_back("the same seed took another course");
  if (trace || !report.complaints.empty()) std::printf("%s", report.drawn.c_str());
  for (const auto& complaint : report.complaints) std::printf("  FAILED %s\n", complaint.c_str());
  if (!report.complaints.empty())
    std::printf("  see it again: tools/sim-sweep --seed %" PRIu64 " --trace\n", seed);
  if (trace) std::printf("trace %016" PRIx64 "\n", report.trace);
  std::fflush(stdout);
  return report.complaints.empty();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs seeds of the simulation");
  uint64_t count = 100, from = 1, step = 1;
  std::optional<uint64_t> seed;
  bool trace = false;
  app.add_option("count", count, "how many seeds");
  app.add_option("--from", from, "the first seed");
  app.add_option("--step", step, "only each so many-th of them");
  app.add_option("--seed", seed, "only this one");
  app.add_flag("--trace", trace, "print what happens");
  CLI11_PARSE(app, argc, argv);
  uint64_t failed = 0, done = 0, effects = 0;
  if (seed) return Try(*seed, trace, effects) ? 0 : 1;
  for (uint64_t one = from; one < from + count; one += step) {
    failed += Try(one, trace, effects) ? 0 : 1;
    if (++done % 100 == 0) {
      std::printf("%" PRIu64 " seeds, %" PRIu64 " effects, %" PRIu64 " failed\n", done, effects, failed);
      std::fflush(stdout);
    }
  }
  std::printf("done: %" PRIu64 " seeds, %" PRIu64 " effects, %" PRIu64 " failed\n", done, effects, failed);
  return failed == 0 ? 0 : 1;
}
