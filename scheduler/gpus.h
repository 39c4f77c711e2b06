// Which GPUs of a node a pod gets: pure. Whole GPUs are chosen by how they are linked, shares of memory where
// the least is left over, MIG instances by profile; nothing is held twice unless sharing was declared.
#pragma once

#include <map>
#include <set>
#include <string>

#include "emulator/api/gpu.h"
#include "emulator/api/gpu_request.h"

namespace tfemu::scheduler {

// What of one device is given away.
struct GpuUse {
  int holders = 0;
  int64_t memory_bytes = 0;
  int cores = 0;
  bool whole = false;  // by one that asked for all of it
};
using GpuUses = std::map<std::string, GpuUse>;  // by uuid

// Adds what a pod holds. Its init containers, `init`, have ended when the others use the same devices.
void Assume(GpuUses& uses, const api::NodeGpus& gpus, const api::GpuShares& shares,
            const std::set<std::string>& init = {});

struct GpuChoice {
  api::GpuShares shares;
  std::string problem;  // why the node's devices don't do, or ""; then `shares` is empty
};
GpuChoice ChooseGpus(const api::NodeGpus& gpus, const GpuUses& uses,
                     const std::vector<api::GpuClaim>& claims);

// A device that both hold, or "".
std::string SharedDevice(const api::GpuShares& a, const api::GpuShares& b);

// How well a set of GPUs is connected: the sum over its pairs of NVLinks, or of nearness on the PCI bus.
int64_t LinkScore(const std::vector<const api::Gpu*>& gpus);

}  // namespace tfemu::scheduler
