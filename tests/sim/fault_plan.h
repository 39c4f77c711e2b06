// What goes wrong in a run, and when: drawn first, printed with a failure, carried out by itself.
#pragma once

#include <string>
#include <vector>

#include "emulator/base/rng.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {

struct Fault {
  enum class Type {
    kDaemonDies,    // at some effect from then on: `count` of them pass
    kDaemonKilled,  // between two tasks
    kSupervisorDies,
    kBothDie,
    kReboot,
    kTermWhileStarting,
    kDiskFull,
    kGpuBad,
  };
  Type type;
  Duration at, lasts{0};
  uint64_t count = 0;
  std::string Text() const;
};

struct FaultPlan {
  std::vector<Fault> faults;
  Duration downtime;
  int sandbox_failures = 0;  // percent of the tries
  int slow_sandboxes = 0;    // percent
  Duration event_delay{0};   // at most
  bool loses_pods() const;   // by itself: programs end that nobody asked to
  std::string Text() const;
};

inline constexpr Duration kSafety = std::chrono::seconds(120);  // then everything heals

FaultPlan DrawFaults(Rng rng);
// Puts the plan, and its healing, on the host's clock. `rng` is for what is drawn on the way.
void Carry(const FaultPlan& plan, SimHost& host, Rng rng);

}  // namespace tfemu::sim
