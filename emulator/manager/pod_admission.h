// What a node decides about a pod that came with its name: no scheduler chose devices or an instance for it,
// or those it had are gone since the last run. Pure.
#pragma once

#include <string>

#include "emulator/api/node.h"
#include "emulator/api/pod.h"
#include "scheduler/scheduler.h"

namespace tfemu::manager {

// Whether the pod has all that its node must give it before it starts.
bool Admitted(const api::Pod& pod, const api::Node& node);

// The devices a node gives to such a pod, or why it refuses it, in the kubelet's words.
struct Admission {
  api::GpuShares gpus;
  std::string refusal;
};
Admission Admit(const scheduler::NodeState& node, const api::Pod& pod);

}  // namespace tfemu::manager
