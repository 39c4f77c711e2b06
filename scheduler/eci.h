// Which ECI instance a pod gets, in which zone, and why none: pure. Candidates are tried in the pod's order,
// zone by zone (ECI documentation, "Specify multiple instance types"; simulation-failures-eci.md 6.1 to 6.3).
#pragma once

#include <map>
#include <string>

#include "emulator/api/eci_settings.h"
#include "scheduler/scheduler.h"

namespace tfemu::scheduler {

// What the unfinished pods on ECI have taken.
struct EciUse {
  std::map<std::string, int> instances;  // by type
  double vcpus = 0;
  int gpus = 0;
};
void Assume(EciUse& use, const api::EciInstance& instance);

struct EciChoice {
  std::string node;  // "" when there is none
  api::EciSpec spec;
  api::GpuShares gpus;
  std::string reason, message;  // NoStock, …; why there is none
};

struct EciRequestContext {
  const Snapshot& snapshot;
  const api::EciSettings& settings;
  const EciUse& use;
  std::string instance_id;  // of the instance that would be made
  uint64_t draw = 0;        // picks the first zone where the pod leaves that to chance
};
EciChoice ChooseEci(const EciRequestContext& context, const api::Pod& pod);

// Whether a pod is ECI's, given whether the other nodes had room for it.
bool GoesToEci(const api::EciSettings& settings, const api::Pod& pod, bool nodes_full);

}  // namespace tfemu::scheduler
