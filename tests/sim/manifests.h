// Manifests whose containers say what they will do (see programs.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "emulator/api/gpu.h"
#include "emulator/api/object.h"

namespace tfemu::sim {

using Steps = std::vector<std::string>;

struct Replicas {
  std::string type;  // of TFJob: Chief, PS, Worker, ...
  int count = 1;
  std::string policy = "Never";
  Steps steps;
  int gpus = 0;
};

api::Json MakeTFJob(const std::string& name, const std::vector<Replicas>& replicas,
                    const api::Json& run_policy = api::Json::object());
// `spec` has what is not the template; all pods share their steps.
api::Json MakeJob(const std::string& name, const api::Json& spec, const Steps& steps,
                  const std::string& policy = "Never");
api::Json MakeDeployment(const std::string& name, int replicas, const std::string& version,
                         const Steps& steps);
api::Json MakePod(const std::string& name, const std::string& policy, const Steps& steps);

// Nodes of 8 CPUs with real GPUs, which may fail.
std::vector<api::Gpu> MakeGpus(int node, int count);
std::vector<api::Json> MakeNodes(int count, int gpus);

}  // namespace tfemu::sim
