// A whole control plane on virtual time, with scripted pods and images that are all there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/api/node.h"
#include "emulator/base/sim_executor.h"
#include "emulator/manager/cluster.h"
#include "emulator/store/memory_store.h"
#include "runtime/sim_runtime.h"
#include "tests/support/any_image.h"

namespace tfemu::test {

struct WorldOptions {
  int nodes = 3;
  int gpus = 2;                             // counted only
  std::vector<api::NodeGpus> devices = {};  // or those that each node has
  int64_t cpus = 8;
  uint64_t seed = 1;
  api::EciSettings eci = {};
  api::TFJobSettings tfjob = {};
  runtime::SimRuntime::Director director = [](const auto&, const auto&) { return runtime::Script{}; };
};

class World {
 public:
  explicit World(WorldOptions options = {});

  // The daemon ends, if it still runs, and a new one starts over the same objects.
  void Restart();

  // All of the documents of a manifest; fails the test when one is refused.
  void Apply(const std::string& yaml);
  Result<manager::Written> TryApply(const std::string& yaml);
  void Advance(Duration time) { executor.RunUntil(executor.Now() + time); }

  api::Object Get(const std::string& kind, const std::string& name, const std::string& ns = "default") const;
  bool Exists(const std::string& kind, const std::string& name, const std::string& ns = "default") const;
  std::vector<api::Object> List(const std::string& kind) const { return store.List({kind, ""}).objects; }
  void Exit(const std::string& pod, int exit_code, const std::string& container = "tensorflow");
  std::vector<std::string> EventsOf(
      const std::string& name) const;  // "Normal Reason Message xCOUNT", oldest first

  SimExecutor executor{Instant{1'764'528'000'000'000'000}};  // 2025-11-30T18:40:00Z
  store::MemoryStore store{executor};
  runtime::SimRuntime runtime;
  AnyImage images;
  std::unique_ptr<manager::Cluster> cluster;

 private:
  manager::ClusterSettings settings_;
};

std::string ReadFile(const std::string& path);        // fails the test when it can't
std::string SourcePath(const std::string& relative);  // below the source tree

}  // namespace tfemu::test
