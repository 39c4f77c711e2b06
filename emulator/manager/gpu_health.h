// What a new look at the host's GPUs changes for a node: devices that went, came back, or were split anew.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/gpu.h"
#include "emulator/base/result.h"

namespace tfemu::manager {

struct GpuNews {
  std::string uuid, message;
  bool bad = false;
};

// Brings the real devices of `gpus` up to date; virtual ones are always well.
std::vector<GpuNews> UpdateHealth(api::NodeGpus& gpus, const Result<std::vector<api::Gpu>>& host);

}  // namespace tfemu::manager
