// What the daemon lends to its gRPC server.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emulator/base/executor.h"
#include "emulator/io/asio_executor.h"
#include "emulator/manager/gpu_board.h"
#include "emulator/manager/registry.h"
#include "emulator/store/store.h"
#include "runtime/image.h"
#include "runtime/runtime.h"

namespace tfemu::rpc {

struct ClusterFacts {
  std::string name, version, state_folder;
  std::string isolation, cgroup_driver;  // "root", "v1"
  std::string pod_range, dns_address;
  bool ephemeral = false;
  Instant started;
  std::vector<std::string> image_folders;
  std::string tfjob;                            // how the controller differs from the default one, or ""
  std::vector<std::string> notes;               // what this host cannot do, a sentence each
  std::map<std::string, std::string> settings;  // the start flags that a second `up` must agree with, by name
};

// What is used of nodes, pods and GPUs now.
struct ClusterUse {
  struct Pod {
    std::string ns, name, node;
    int64_t cpu_ns = 0, memory_bytes = 0;
  };
  std::vector<Pod> pods;  // those that run
  std::vector<std::string> nodes;
  std::vector<manager::GpuUsage> gpus;
};

// All of it is used on the executor's thread only, and must outlive the server.
struct Backend {
  io::AsioExecutor& executor;
  manager::Registry& registry;
  store::Store& store;
  runtime::PodAccess& access;
  runtime::ImageCatalog& images;
  std::string state_folder;
  std::function<ClusterFacts()> facts;
  std::function<ClusterUse()> use;
  // Stops every pod, then calls `stopped`; the daemon then stops the server and ends.
  std::function<void(std::function<void()> stopped)> shutdown;
};

}  // namespace tfemu::rpc
