// A whole control plane over any executor, store, runtime and images: what the daemon and the simulator
// share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/manager/controllers.h"
#include "emulator/manager/garbage_collector.h"
#include "emulator/manager/node_agent.h"
#include "emulator/manager/scheduler_loop.h"

namespace tfemu::manager {

struct ClusterDeps {
  Executor& executor;
  store::Store& store;
  runtime::Runtime& runtime;
  runtime::ImageCatalog& images;
  runtime::GpuFiles* gpu_files = nullptr;
  runtime::ProbeRunner* probes = nullptr;
};

struct ClusterSettings {
  uint64_t seed = 0;
  std::vector<api::Json> nodes;  // documents of kind Node
  LaunchSettings launch;
  api::EciSettings eci;
  int64_t time_scale = 1;  // waits of the cluster are divided by this
  api::TFJobSettings tfjob;
};

class Cluster {
 public:
  Cluster(const ClusterDeps& deps, ClusterSettings settings);
  ~Cluster();

  // Makes the built-in namespaces and the nodes, then lets the controllers see everything that is there.
  Result<void> Start();

  // A new look at the host's GPUs: nodes offer what is still there, events say what is not.
  void OnHostGpus(const Result<std::vector<api::Gpu>>& host);

  Registry& registry() { return registry_; }
  NodeAgent& node_agent() { return agent_; }
  const NodeAgent::Adopted& adopted() const { return adopted_; }

 private:
  Result<void> MakeNamespaces();
  Result<void> MakeNodes();
  void OnWatch(const store::WatchEvent& event);

  ClusterDeps deps_;
  ClusterSettings settings_;
  Registry registry_;
  EventRecorder events_;
  ActionApplier applier_;
  StorageFolders folders_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  GarbageCollector garbage_;
  SchedulerLoop scheduler_;
  NodeAgent agent_;
  NodeAgent::Adopted adopted_;
  store::WatchId watch_{};
};

}  // namespace tfemu::manager
