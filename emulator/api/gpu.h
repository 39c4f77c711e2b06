// GPUs of a node and who was given what of them. Both travel as an annotation of that name: a node's says
// which devices it has, a pod's which of them each container got.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/api/meta.h"
#include "emulator/api/quantity.h"

namespace tfemu::api {

inline constexpr const char* kGpuAnnotation = "tfemu.dev/gpus";

// A device that a container can be bound to: a whole GPU, or one MIG instance of one.
struct Gpu {
  int index = 0;     // of the node, in PCI bus order
  std::string uuid;  // virtual ones begin with kVirtualGpuPrefix
  std::string model;
  int64_t memory_bytes = 0;
  std::string pci;  // 00000000:00:1E.0
  int minor = -1;   // of /dev/nvidia<minor>; -1 for a virtual one
  int numa = 0;
  std::string driver, cuda;        // versions
  std::string compute_capability;  // "8.6"
  int power_limit_watts = 0;
  std::map<int, int> links;         // index of another GPU of the node -> NVLinks between the two
  std::string mig_profile, parent;  // of a MIG instance: "1g.10gb" and the GPU's uuid
  int gpu_instance = -1, compute_instance = -1;  // of a MIG instance
  std::string health;                            // why it is not to be used, or ""

  bool is_virtual() const;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};
inline constexpr const char* kVirtualGpuPrefix = "GPU-00000000-";
inline constexpr const char* kVirtualMigPrefix = "MIG-00000000-";

// Whether several containers may hold one GPU. Nobody shares unless the cluster's description says so.
struct GpuSharing {
  enum class Mode {
    kNone,
    kTimeSlicing,  // `replicas` containers a GPU, with no limit on memory (NVIDIA's device plugin)
    kMemory,       // by memory: aliyun.com/gpu-mem, nvidia.com/gpumem, nvidia.com/gpucores
  };
  Mode mode = Mode::kNone;
  int replicas = 1;
  bool rename = false;  // time-slices are called nvidia.com/gpu.shared
  friend bool operator==(const GpuSharing&, const GpuSharing&) = default;
};

struct NodeGpus {
  std::vector<Gpu> devices;
  GpuSharing sharing;

  const Gpu* Find(const std::string& uuid) const;
  friend bool operator==(const NodeGpus&, const NodeGpus&) = default;
};

// "2 x A10 (virtual), 1 x NVIDIA H200"; "<none>" without any.
std::string GpuSummary(const NodeGpus& gpus);

// What the node offers, such as {"nvidia.com/gpu": 2}; a device that is not healthy is not counted.
Resources GpuResources(const NodeGpus& gpus);

nlohmann::json EncodeGpus(const NodeGpus& gpus);
NodeGpus DecodeGpus(const nlohmann::json& doc);
NodeGpus NodeGpusOf(const ObjectMeta& node);

// What one container holds of one device.
struct GpuShare {
  std::string uuid;
  int64_t memory_bytes = 0;  // 0: all of it
  int cores = 0;             // percent of the compute; 0: no limit
  friend bool operator==(const GpuShare&, const GpuShare&) = default;
};
using GpuShares = std::map<std::string, std::vector<GpuShare>>;  // by container

std::string EncodeGpuShares(const GpuShares& shares);
// Empty when the pod holds nothing, or what it says can't be read.
GpuShares GpuSharesOf(const ObjectMeta& pod);

}  // namespace tfemu::api
