// What a container asks for in GPUs, in the words of NVIDIA's device plugin, Alibaba's gpushare and HAMi.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/api/pod.h"

namespace tfemu::api {

// `count` devices of one sort for one container.
struct GpuClaim {
  enum class Type {
    kGpu,     // nvidia.com/gpu: a whole GPU, or a time-slice where those are declared
    kMig,     // nvidia.com/mig-<profile>
    kMemory,  // a share of the memory: aliyun.com/gpu-mem, nvidia.com/gpumem
  };
  std::string container;
  Type type = Type::kGpu;
  int count = 1;
  std::string profile;       // kMig
  int64_t memory_bytes = 0;  // kMemory: of each device; 0 with `memory_percent` or neither: the whole
  int memory_percent = 0;    // of each device's memory
  int cores = 0;             // percent of each device's compute; 0: no limit
  bool init = false;         // of an init container: over before the pod's other containers begin
  friend bool operator==(const GpuClaim&, const GpuClaim&) = default;
};

std::vector<GpuClaim> GpuClaimsOf(const Pod& pod);

// nvidia.com/gpumem and its kin qualify nvidia.com/gpu: no node counts them, the device that is chosen must
// have them.
std::span<const char* const> GpuQualifiers();
bool QualifiesGpu(const std::string& resource);
// Any resource that is about GPUs.
bool IsGpuResource(const std::string& resource);

// Limits of containers with a name of the form domain/name, each at its path.
struct AskedResource {
  std::string path, name;
};
std::vector<AskedResource> ExtendedResources(const Json& pod_spec, const std::string& path);

// What is wrong with the GPU resources of a container, each at its own path below `path`.
std::vector<FieldMessage> CheckGpuResources(const Json& container, const std::string& path);

}  // namespace tfemu::api
