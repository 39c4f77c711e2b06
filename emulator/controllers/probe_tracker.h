// What a container's probes amount to (kubelet prober: results count from the threshold on; until the startup
// probe has succeeded nothing else is asked). Pure.
#pragma once

#include <optional>

#include "emulator/api/probe.h"

namespace tfemu::controllers {

enum class ProbeType { kStartup, kLiveness, kReadiness };
const char* ToString(ProbeType type);  // as events say it: "Startup"

class ProbeTracker {
 public:
  explicit ProbeTracker(const api::ContainerProbes& probes);
  // Of a container whose probes somebody else ran before: what they amounted to holds until they say
  // otherwise.
  ProbeTracker(const api::ContainerProbes& probes, bool started, bool ready);

  // Whether that probe is to be run now.
  bool Wanted(ProbeType type) const;
  // True when the container must be killed: startup or liveness has failed often enough.
  bool Record(ProbeType type, bool success);

  bool started() const { return startup_.result.value_or(false); }
  bool ready() const { return started() && readiness_.result.value_or(false); }

 private:
  struct Series {
    std::optional<api::Probe> probe;
    std::optional<bool> result;
    int successes = 0, failures = 0;  // in a row
  };
  Series& Of(ProbeType type);
  const Series& Of(ProbeType type) const { return const_cast<ProbeTracker*>(this)->Of(type); }
  Series startup_, liveness_, readiness_;
};

}  // namespace tfemu::controllers
