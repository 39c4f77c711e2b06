#include "emulator/controllers/probe_tracker.h"

namespace tfemu::controllers {

const char* ToString(ProbeType type) {
  switch (type) {
    case ProbeType::kStartup: return "Startup";
    case ProbeType::kLiveness: return "Liveness";
    case ProbeType::kReadiness: return "Readiness";
  }
  return "";
}

// Without a probe a container is started, alive and ready as soon as it runs.
ProbeTracker::ProbeTracker(const api::ContainerProbes& probes)
    : startup_{probes.startup}, liveness_{probes.liveness}, readiness_{probes.readiness} {
  for (Series* series : {&startup_, &liveness_, &readiness_})
    if (!series->probe) series->result = true;
  if (liveness_.probe) liveness_.result = true;
  if (readiness_.probe) readiness_.result = false;
}

ProbeTracker::ProbeTracker(const api::ContainerProbes& probes, bool started, bool ready)
    : ProbeTracker(probes) {
  if (startup_.probe && started) startup_.result = true;
  if (readiness_.probe) readiness_.result = ready;
}

ProbeTracker::Series& ProbeTracker::Of(ProbeType type) {
  switch (type) {
    case ProbeType::kStartup: return startup_;
    case ProbeType::kLiveness: return liveness_;
    case ProbeType::kReadiness: break;
  }
  return readiness_;
}

bool ProbeTracker::Wanted(ProbeType type) const {
  if (!Of(type).probe) return false;
  return type == ProbeType::kStartup ? !started() : started();
}

bool ProbeTracker::Record(ProbeType type, bool success) {
  Series& series = Of(type);
  series.successes = success ? series.successes + 1 : 0;
  series.failures = success ? 0 : series.failures + 1;
  if (success && series.successes >= series.probe->success_threshold) series.result = true;
  if (!success && series.failures >= series.probe->failure_threshold) {
    series.result = false;
    return type != ProbeType::kReadiness;
  }
  return false;
}

}  // namespace tfemu::controllers
