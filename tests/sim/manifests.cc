#include "tests/sim/manifests.h"

#include "emulator/api/node.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {
namespace {

using api::Json;

Json MakeContainer(const std::string& name, const std::string& key, const Steps& steps, int gpus = 0) {
  Json command = {"sim", key};
  for (const std::string& step : steps) command.push_back(step);
  Json container = {{"name", name}, {"image", "registry.local/sim:1"}, {"command", command}};
  Json requests = {{"cpu", "500m"}, {"memory", "1Gi"}};
  if (gpus > 0) requests["nvidia.com/gpu"] = gpus;
  container["resources"] = {{"requests", requests}};
  if (gpus > 0) container["resources"]["limits"] = {{"nvidia.com/gpu", gpus}};
  return container;
}

Json Headed(const std::string& version, const std::string& kind, const std::string& name) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", name}, {"namespace", "default"}}}};
}

}  // namespace

Json MakeTFJob(const std::string& name, const std::vector<Replicas>& replicas, const Json& run_policy) {
  Json job = Headed("kubeflow.org/v1", "TFJob", name);
  Json& spec = job["spec"];
  if (!run_policy.empty()) spec["runPolicy"] = run_policy;
  for (const Replicas& one : replicas)
    spec["tfReplicaSpecs"][one.type] = {
        {"replicas", one.count},
        {"restartPolicy", one.policy},
        {"template", {{"spec", {{"containers", {MakeContainer("tensorflow", "", one.steps, one.gpus)}}}}}}};
  return job;
}

Json MakeJob(const std::string& name, const Json& spec, const Steps& steps, const std::string& policy) {
  Json job = Headed("batch/v1", "Job", name);
  job["spec"] = spec;
  job["spec"]["template"]["spec"] = {{"restartPolicy", policy},
                                     {"containers", {MakeContainer("main", "job " + name, steps)}}};
  return job;
}

Json MakeDeployment(const std::string& name, int replicas, const std::string& version, const Steps& steps) {
  Json deployment = Headed("apps/v1", "Deployment", name);
  const Json labels = {{"app", name}};
  deployment["spec"] = {{"replicas", replicas},
                        {"selector", {{"matchLabels", labels}}},
                        {"template",
                         {{"metadata", {{"labels", labels}, {"annotations", {{"version", version}}}}},
                          {"spec", {{"containers", {MakeContainer("main", "", steps)}}}}}}};
  return deployment;
}

Json MakePod(const std::string& name, const std::string& policy, const Steps& steps) {
  Json pod = Headed("v1", "Pod", name);
  pod["spec"] = {{"restartPolicy", policy}, {"containers", {MakeContainer("main", "", steps)}}};
  return pod;
}

std::vector<api::Gpu> MakeGpus(int node, int count) {
  std::vector<api::Gpu> gpus;
  for (int i = 0; i < count; ++i) {
    api::Gpu gpu;
    gpu.index = i;
    gpu.uuid = "GPU-" + std::to_string(node) + "000000" + std::to_string(i);
    gpu.model = "NVIDIA A10";
    gpu.memory_bytes = int64_t{24} << 30;
    gpu.minor = i;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::vector<Json> MakeNodes(int count, int gpus) {
  std::vector<Json> nodes;
  for (int i = 0; i < count; ++i) {
    const std::string prefix = "10.244." + std::to_string(i) + ".";
    api::NodeDescription node{
        "node-" + std::to_string(i + 1), prefix + "0/24", prefix + "1", "6.1", "Debian", "tfemu://0"};
    node.capacity = {{"cpu", {8000}}, {"memory", {int64_t{32000} << 30}}, {"pods", {110'000}}};
    node.gpus.devices = MakeGpus(i, gpus);
    node.now = kEpoch;
    nodes.push_back(api::MakeNode(node));
  }
  return nodes;
}

}  // namespace tfemu::sim
