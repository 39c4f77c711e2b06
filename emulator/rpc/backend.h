// What the daemon lends to its gRPC server.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emulator/base/executor.h"
#include "emulator/io/asio_executor.h"
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
  std::vector<std::string> notes;               // what this host cannot do, a sentence each
  std::map<std::string, std::string> settings;  // the start flags that a second `up` must agree with, by name
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
  // Stops every pod, then calls `stopped`; the daemon then stops the server and ends.
  std::function<void(std::function<void()> stopped)> shutdown;
};

}  // namespace tfemu::rpc
