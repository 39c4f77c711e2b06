// What the GPUs of each model have: the figures a virtual one shows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/api/gpu.h"
#include "emulator/base/result.h"

namespace tfemu::api {

// Of NVIDIA's data sheets: memory as the driver reports it is a little less than these powers of two.
struct GpuModel {
  std::string_view name;     // as people say it: A10
  std::string_view product;  // as the driver says it: NVIDIA A10
  int memory_gib;
  std::string_view compute_capability;
  int power_watts;
  int links;  // NVLinks between any two GPUs of one machine; 0: PCI only
};

std::span<const GpuModel> GpuModels();
// By name, without regard to case, with or without "NVIDIA"; the error names the near ones.
Result<const GpuModel*> FindGpuModel(const std::string& name);

struct MigProfile {
  std::string_view model, name;  // A100-40GB, 1g.5gb
  int memory_gib, slices;        // of the seven of a GPU
};
std::span<const MigProfile> MigProfiles();

// Virtual GPUs as a node would list them. `first` numbers them across the cluster, so that no two have one
// UUID; `index` is the first one's on the node. `mig` splits each GPU into instances of these profiles.
struct VirtualGpus {
  std::string model;
  int count = 0, first = 0, index = 0;
  std::vector<std::string> mig;
};
Result<std::vector<Gpu>> MakeVirtualGpus(const VirtualGpus& wanted);

}  // namespace tfemu::api
