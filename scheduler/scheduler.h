// Which node a pod goes to, and if none, why: pure, ordered, explained (kube-scheduler's filters and
// LeastAllocated).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/node.h"
#include "emulator/api/pod.h"
#include "scheduler/gpus.h"

namespace tfemu::scheduler {

struct NodeState {
  api::Node node;
  api::Resources requested;  // by the unfinished pods bound to it, "pods" counted too
  GpuUses gpu_uses;          // what those pods hold of its devices
};

struct Snapshot {
  std::vector<NodeState> nodes;  // by name
};

// Adds a pod to what its node has given away; `gpus` are those it holds.
void Assume(NodeState& node, const api::PodSpec& pod, const api::GpuShares& gpus);

struct Rejection {
  std::string node;
  std::vector<std::string> reasons;  // "Insufficient nvidia.com/gpu", …
  bool preemption_might_help = false;
  friend bool operator==(const Rejection&, const Rejection&) = default;
};

struct Decision {
  std::string node;                   // "" when the pod fits nowhere
  api::GpuShares gpus;                // of that node, by container
  std::vector<Rejection> rejections;  // of each node that was not chosen for a reason
  std::string message;                // the FailedScheduling sentence, when the pod fits nowhere
};

// What must hold before any node is looked at: "persistentvolumeclaim \"x\" not found", or "".
// `conflicts` are nodes that the pod's volumes rule out, with the reason.
Decision Schedule(const Snapshot& snapshot, const api::Pod& pod, const std::string& prerequisite,
                  const std::map<std::string, std::string>& conflicts = {});

}  // namespace tfemu::scheduler
