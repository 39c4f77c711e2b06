// The daemon's command line, and the cluster it asks for.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/cluster_config.h"
#include "runtime/gpu/host/host_gpus.h"

namespace tfemu::daemon {

struct Options {
  std::string home, cluster = "default", config_file, isolation = "auto", gpus = "none", gpu_model, eci;
  int nodes = 1, cpus = 0;  // cpus of each node; 0: the host's
  bool ephemeral = false, foreground = false, probe_gpus = false;
  int ready_fd = -1;
};

struct HostFacts {
  int cpus = 1;
  int64_t memory_bytes = 0;
  std::string kernel, os_image;
};
HostFacts ReadHostFacts();

// Reads options.config_file when it is given, else makes options.nodes nodes of the host's size.
Result<api::ClusterConfig> MakeConfig(const Options& options);

// The GPUs of each node: virtual ones are made, those of the host given out. `host` is what the host has, or
// why that is not known; it is looked at only when WantsHostGpus.
bool WantsHostGpus(const api::ClusterConfig& config);
Result<std::vector<api::NodeGpus>> PlanGpus(const api::ClusterConfig& config,
                                            const Result<gpu::HostGpus>& host);

// Node documents; pods of the i-th node get addresses of 10.244.i.0/24.
std::vector<api::Json> MakeNodes(const api::ClusterConfig& config, const std::vector<api::NodeGpus>& gpus,
                                 const HostFacts& host, Instant now);

}  // namespace tfemu::daemon
