// What the operator creates for each replica of a TFJob (training-operator v1.9.4, tfjob-controller.md
// section 2).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "emulator/api/decode.h"
#include "emulator/api/tfjob.h"
#include "emulator/base/check.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr char kTypeLabel[] = "training.kubeflow.org/replica-type";
constexpr char kIndexLabel[] = "training.kubeflow.org/replica-index";

// The operator takes "/", which no name on a cluster has, for "-".
std::string JobName(const TFJob& job) {
  std::string name = job.meta.name;
  std::ranges::replace(name, '/', '-');
  return name;
}

std::string Address(const TFJob& job, const std::string& type, int index, const TFJobSettings& settings) {
  const std::string& domain = settings.custom_cluster_domain;
  return ReplicaName(job, type, index) + "." + job.meta.ns + ".svc" + (domain.empty() ? "" : "." + domain) +
         ":" + std::to_string(job.replica_specs.at(type).port);
}

Ordered Addresses(const TFJob& job, const std::string& type, const TFJobSettings& settings) {
  Ordered list = Ordered::array();
  for (int i = 0; i < job.replica_specs.at(type).replicas; ++i)
    list.push_back(Address(job, type, i, settings));
  return list;
}

Ordered Task(const std::string& type, int index) {
  Ordered task;
  task["type"] = ToLower(type);
  task["index"] = index;
  return task;
}

std::string DenseConfig(const TFJob& job, const std::string& type, int index, const TFJobSettings& settings) {
  std::map<std::string, Ordered> sorted;
  for (const auto& [t, spec] : job.replica_specs)
    if (t != "Evaluator" || settings.evaluator_in_cluster) sorted[ToLower(t)] = Addresses(job, t, settings);
  Ordered cluster = Ordered::object();
  for (auto& [t, addresses] : sorted) cluster[t] = std::move(addresses);
  Ordered config;
  config["cluster"] = std::move(cluster);
  config["task"] = Task(type, index);
  config["environment"] = "cloud";
  return config.dump();
}

std::string SparseConfig(const TFJob& job, const std::string& type, int index,
                         const TFJobSettings& settings) {
  Ordered worker = Ordered::object(), ps = Ordered::array();
  if (type == "Worker") {
    worker[std::to_string(index)] = Address(job, type, index, settings);
    ps = job.replica_specs.contains("PS") ? Addresses(job, "PS", settings) : Ordered(nullptr);
  } else if (type == "PS") {
    ps.push_back(Address(job, type, index, settings));
  }
  Ordered cluster;
  cluster["worker"] = std::move(worker);
  cluster["ps"] = std::move(ps);
  Ordered config;
  config[settings.sparse_cluster ? "sparseCluster" : "cluster"] = std::move(cluster);
  config["task"] = Task(type, index);
  return config.dump();
}

// Every pod of a Chief or Master; without one, Worker 0.
bool IsMasterRole(const TFJob& job, const std::string& type, int index) {
  if (job.has_chief()) return type == "Chief" || type == "Master";
  return type == "Worker" && index == 0;
}

Json* TensorflowContainer(Json& containers) {
  for (Json& container : containers)
    if (Text(container, "name") == "tensorflow") return &container;
  return nullptr;
}

// The port tfjob-port 2222, on the container called tensorflow or else the first, unless it has one of that
// name.
void DefaultPort(Json& containers) {
  if (containers.empty()) return;
  Json* container = TensorflowContainer(containers);
  if (container == nullptr) container = &containers[0];
  for (const Json& port : Items(*container, "ports"))
    if (Text(port, "name") == "tfjob-port") return;
  (*container)["ports"].push_back(Json::object({{"containerPort", 2222}, {"name", "tfjob-port"}}));
}

std::string PodRestartPolicy(const ReplicaSpec& spec) {
  if (!spec.unknown_restart_policy.empty()) return spec.unknown_restart_policy;
  switch (spec.restart_policy) {
    case ReplicaRestartPolicy::kAlways: return "Always";
    case ReplicaRestartPolicy::kOnFailure: return "OnFailure";
    case ReplicaRestartPolicy::kNever:
    case ReplicaRestartPolicy::kExitCode: return "Never";
  }
  return "Never";
}

Json MakeMeta(const TFJob& job, const std::string& type, int index) {
  const OwnerReference owner = ControllerReference("kubeflow.org/v1", "TFJob", job.meta);
  return Json::object({{"name", ReplicaName(job, type, index)},
                       {"namespace", job.meta.ns},
                       {"labels", ReplicaLabels(job, type, index)},
                       {"ownerReferences", EncodeOwnerReferences({owner})}});
}

Json DefaultedContainers(const ReplicaSpec& spec) {
  Json containers = Items(Member(spec.pod_template.doc(), "spec"), "containers");
  DefaultPort(containers);
  return containers;
}

}  // namespace

Labels ReplicaLabels(const TFJob& job, const std::string& type, int index) {
  return {{"training.kubeflow.org/operator-name", "tfjob-controller"},
          {"training.kubeflow.org/job-name", JobName(job)},
          {kTypeLabel, ToLower(type)},
          {kIndexLabel, std::to_string(index)}};
}

std::optional<std::string> ReplicaTypeOf(const Labels& labels) {
  const auto it = labels.find(kTypeLabel);
  return it == labels.end() ? std::nullopt : std::optional(it->second);
}

std::optional<int> ReplicaIndexOf(const Labels& labels) {
  const auto it = labels.find(kIndexLabel);
  const auto index = it == labels.end() ? std::nullopt : ParseInt(it->second);
  return index ? std::optional(static_cast<int>(*index)) : std::nullopt;
}

std::string ReplicaName(const TFJob& job, const std::string& type, int index) {
  return JobName(job) + "-" + ToLower(type) + "-" + std::to_string(index);
}

std::optional<std::string> TFConfig(const TFJob& job, const std::string& type, int index,
                                    const TFJobSettings& settings) {
  int replicas = 0;
  for (const auto t : kReplicaTypes)
    if (const auto it = job.replica_specs.find(std::string(t)); it != job.replica_specs.end())
      replicas += it->second.replicas;
  if (replicas == 1 && !settings.single_replica_config) return std::nullopt;
  return job.enable_dynamic_worker ? SparseConfig(job, type, index, settings)
                                   : DenseConfig(job, type, index, settings);
}

Json MakeReplicaPod(const TFJob& job, const std::string& type, int index, const TFJobSettings& settings) {
  const auto it = job.replica_specs.find(type);
  CHECK_THAT(it != job.replica_specs.end());
  const ReplicaSpec& spec = it->second;
  Json meta = Member(spec.pod_template.doc(), "metadata").is_object() ? spec.pod_template.doc()["metadata"]
                                                                      : Json::object();
  meta.merge_patch(MakeMeta(job, type, index));
  if (IsMasterRole(job, type, index)) meta["labels"]["training.kubeflow.org/job-role"] = "master";
  Json pod_spec =
      Member(spec.pod_template.doc(), "spec").is_object() ? spec.pod_template.doc()["spec"] : Json::object();
  pod_spec["restartPolicy"] = PodRestartPolicy(spec);
  pod_spec["containers"] = DefaultedContainers(spec);
  if (Json* container = TensorflowContainer(pod_spec["containers"]))
    if (const auto config = TFConfig(job, type, index, settings))
      (*container)["env"].push_back(Json::object({{"name", "TF_CONFIG"}, {"value", *config}}));
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(pod_spec)}});
}

Json MakeReplicaService(const TFJob& job, const std::string& type, int index) {
  const auto it = job.replica_specs.find(type);
  CHECK_THAT(it != job.replica_specs.end());
  Json ports = Json::array();
  Json containers = DefaultedContainers(it->second);
  if (const Json* container = TensorflowContainer(containers))
    for (const Json& port : Items(*container, "ports"))
      ports.push_back(Json::object({{"name", Text(port, "name")}, {"port", Member(port, "containerPort")}}));
  for (Json& port : ports)
    if (port["name"] == "") port.erase("name");
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Service"},
                       {"metadata", MakeMeta(job, type, index)},
                       {"spec", Json::object({{"clusterIP", "None"},
                                              {"ports", std::move(ports)},
                                              {"selector", ReplicaLabels(job, type, index)}})}});
}

}  // namespace tfemu::api
