// Thresholds of probes, and what waits for what.
#include "emulator/controllers/probe_tracker.h"

#include <doctest/doctest.h>

namespace tfemu::controllers {
namespace {

api::Probe Probe(int successes, int failures) {
  api::Probe probe;
  probe.success_threshold = successes;
  probe.failure_threshold = failures;
  return probe;
}

TEST_CASE("without probes a container is started and ready") {
  const ProbeTracker tracker{api::ContainerProbes()};
  CHECK(tracker.ready());
  CHECK_FALSE(tracker.Wanted(ProbeType::kLiveness));
}

TEST_CASE("readiness begins with no, and both ways have their threshold") {
  api::ContainerProbes probes;
  probes.readiness = Probe(2, 2);
  ProbeTracker tracker(probes);
  CHECK(tracker.started());
  CHECK_FALSE(tracker.ready());
  CHECK_FALSE(tracker.Record(ProbeType::kReadiness, true));
  CHECK_FALSE(tracker.ready());
  tracker.Record(ProbeType::kReadiness, true);
  CHECK(tracker.ready());
  tracker.Record(ProbeType::kReadiness, false);
  CHECK(tracker.ready());
  CHECK_FALSE(tracker.Record(ProbeType::kReadiness, false));  // never a reason to kill
  CHECK_FALSE(tracker.ready());
}

TEST_CASE("liveness begins with yes; a success in between starts the count anew") {
  api::ContainerProbes probes;
  probes.liveness = Probe(1, 3);
  ProbeTracker tracker(probes);
  CHECK(tracker.ready());
  for (const bool success : {false, false, true, false, false})
    CHECK_FALSE(tracker.Record(ProbeType::kLiveness, success));
  CHECK(tracker.Record(ProbeType::kLiveness, false));
}

TEST_CASE("nothing is asked before the startup probe has succeeded, and it is not asked after") {
  api::ContainerProbes probes;
  probes.startup = Probe(1, 2);
  probes.liveness = Probe(1, 1);
  ProbeTracker tracker(probes);
  CHECK_FALSE(tracker.started());
  CHECK_FALSE(tracker.Wanted(ProbeType::kLiveness));
  CHECK_FALSE(tracker.Record(ProbeType::kStartup, false));
  tracker.Record(ProbeType::kStartup, true);
  CHECK(tracker.ready());
  CHECK(tracker.Wanted(ProbeType::kLiveness));
  CHECK_FALSE(tracker.Wanted(ProbeType::kStartup));
}

TEST_CASE("what an earlier prober found holds until a probe says otherwise") {
  api::ContainerProbes probes;
  probes.startup = Probe(1, 1);
  probes.readiness = Probe(1, 2);
  ProbeTracker tracker(probes, true, true);
  CHECK(tracker.ready());
  CHECK_FALSE(tracker.Wanted(ProbeType::kStartup));
  tracker.Record(ProbeType::kReadiness, false);
  CHECK(tracker.ready());
  tracker.Record(ProbeType::kReadiness, false);
  CHECK_FALSE(tracker.ready());
  CHECK_FALSE(ProbeTracker(probes, false, true).ready());
}

}  // namespace
}  // namespace tfemu::controllers
