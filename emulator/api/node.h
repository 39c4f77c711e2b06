// v1.Node: what a simulated machine has and refuses.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/gpu.h"
#include "emulator/api/meta.h"
#include "emulator/api/pod.h"
#include "emulator/api/quantity.h"

namespace tfemu::api {

struct Taint {
  std::string key, value, effect;  // NoSchedule, PreferNoSchedule, NoExecute
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Node {
  ObjectMeta meta;
  Resources allocatable;  // cpu, memory, pods, nvidia.com/gpu, …
  std::vector<Taint> taints;
  bool unschedulable = false, ready = false;
  std::string pod_cidr, internal_ip;
  NodeGpus gpus;
  friend bool operator==(const Node&, const Node&) = default;
};

Node DecodeNode(const Object& object);

struct NodeDescription {
  std::string name, pod_cidr, internal_ip, kernel, os_image, runtime_version;
  Resources capacity;  // without GPUs: those follow from `gpus`
  NodeGpus gpus;
  Labels labels;
  std::vector<Taint> taints;
  Instant now;
};
Json MakeNode(const NodeDescription& node);

// Merge patch, of the whole document, for a node whose GPUs have become `gpus`.
Json NodeGpusPatch(const Node& node, const NodeGpus& gpus);

bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

}  // namespace tfemu::api
