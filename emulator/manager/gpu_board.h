// How busy GPUs are, derived from who holds them and what the holders say of themselves, and the text that
// shows it in pods (runtime/gpu/contract.h): pure.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/gpu.h"
#include "emulator/base/executor.h"
#include "runtime/gpu_files.h"

namespace tfemu::manager {

// A container that holds GPUs. One that runs and reports nothing counts as one that keeps its share full and
// busy: TensorFlow takes all the memory it can see.
struct GpuHolder {
  std::string pod_uid, ns, pod, container, node, program;
  std::vector<api::GpuShare> shares;
  bool running = false;
  struct Load {
    bool reported = false;
    int utilization = 0;  // percent
    int64_t used_bytes = 0;
  };
  std::vector<Load> loads;  // one for each share; shorter when nothing is known yet
  std::vector<runtime::GpuReport> reports;
  Instant reported_at;
};

struct GpuUsage {
  std::string node;
  api::Gpu gpu;
  int utilization = 0;
  int64_t used_bytes = 0;
  std::vector<const GpuHolder*> holders;  // running ones
};

// The load of each share after new reports; the growth of busy time since `holder.reports` over the wall
// time.
std::vector<GpuHolder::Load> LoadsFrom(const GpuHolder& holder,
                                       const std::vector<runtime::GpuReport>& reports, Instant now);

GpuUsage UsageOf(const std::string& node, const api::Gpu& gpu, const std::vector<const GpuHolder*>& holders);

// The devices file of one holder; `holders` are all of its node.
std::string DevicesFile(const api::NodeGpus& gpus, const GpuHolder& viewer,
                        const std::vector<const GpuHolder*>& holders);

}  // namespace tfemu::manager
