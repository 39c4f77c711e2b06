// Every write and every message of a few stories as the daemon's last: the end is that of a run in which
// nobody died.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/sim/end_state.h"
#include "tests/sim/manifests.h"
#include "tests/sim/scenarios.h"

namespace tfemu::sim {
namespace {

// All of them, but for builds that are too slow for that.
uint64_t Stride() {
  const char* asked = std::getenv("TFEMU_SIM_STRIDE");
  return asked == nullptr ? 1 : std::strtoull(asked, nullptr, 10);
}

struct Told {
  EndState end;
  uint64_t points = 0;
  int boots = 0, overlaps = 0;
  size_t left = 0;  // pods that the runtime still has and no object stands for
};

Told Tell(const Scenario& scenario, uint64_t fatal, Duration downtime) {
  EndStateWriter writer;
  SimHost host({.nodes = MakeNodes(2, 0), .downtime = downtime, .observers = {&writer}});
  host.gate().DieAt(fatal);
  host.Boot();
  for (const auto& step : scenario.steps) host.DoAt(step.at, step.deed);
  host.RunUntil(scenario.length);
  Told told{writer.Write(host), host.gate().points(), host.boots(), host.runtime().overlaps()};
  for (const auto& [uid, pod] : host.runtime().pods()) {
    const auto object = host.disk().objects().find({"Pod", pod.launch.ns, pod.launch.name});
    told.left += object == host.disk().objects().end() || object->second.uid() != uid;
  }
  return told;
}

std::string Differences(const std::map<std::string, int>& expected, const std::map<std::string, int>& got) {
  std::string text;
  for (const auto& [what, count] : expected)
    if (const auto found = got.find(what); found == got.end() || found->second != count)
      text += "\n  " + what + ": " + std::to_string(found == got.end() ? 0 : found->second) + " instead of " +
              std::to_string(count);
  for (const auto& [what, count] : got)
    if (!expected.contains(what)) text += "\n  " + what + ": " + std::to_string(count) + " instead of 0";
  return text;
}

// Said at each look at a job, as upstream's operator does, or before the status that follows from it is
// written: another daemon's first look says them again.
bool MaySayAgain(const std::string& event) {
  for (const char* reason : {" ExitedWithCode: ", " TFJobSuspended: ", " TFJobResumed: ",
                             " TFJobRestarting: ", " TFJobSucceeded: ", " TFJobFailed: "})
    if (event.find(reason) != std::string::npos) return true;
  return false;
}

// One that was lost in between is not told; none is told twice.
std::string ToldTwice(const std::map<std::string, int>& expected, const std::map<std::string, int>& got) {
  std::string text;
  for (const auto& [event, count] : got) {
    const auto found = expected.find(event);
    const int most = found == expected.end() ? 0 : found->second;
    if (count > most && !MaySayAgain(event))
      text += "\n  " + event + ": " + std::to_string(count) + " instead of " + std::to_string(most);
  }
  return text;
}

uint64_t CrashEverywhere(const Scenario& scenario, Duration downtime) {
  const Told calm = Tell(scenario, Gate::kNever, downtime);
  REQUIRE(calm.boots == 1);
  for (uint64_t point = 0; point < calm.points; point += Stride()) {
    const Told told = Tell(scenario, point, downtime);
    INFO(scenario.name << ", point " << point << " of " << calm.points);
    CHECK(told.boots == 2);
    CHECK(told.end.objects == calm.end.objects);
    CHECK_MESSAGE(told.end.starts == calm.end.starts, Differences(calm.end.starts, told.end.starts));
    CHECK(ToldTwice(calm.end.events, told.end.events) == "");
    CHECK(told.overlaps == 0);
    CHECK(told.left == 0);
  }
  return calm.points;
}

TEST_CASE("a daemon that dies anywhere costs nothing") {
  uint64_t points = 0;
  for (const Scenario& scenario : Scenarios()) {
    const uint64_t more = CrashEverywhere(scenario, std::chrono::milliseconds(500));
    std::printf("%s: %llu crash points\n", scenario.name.c_str(), static_cast<unsigned long long>(more));
    points += more;
  }
  std::printf("%llu crash points\n", static_cast<unsigned long long>(points));
  CHECK(points >= 1000);
}

}  // namespace
}  // namespace tfemu::sim
