// The pods and services of one replica type (training-operator v1.9.4 pod.go and service.go,
// tfjob-controller.md 3.5, 4.1).
#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"
#include "emulator/controllers/tfjob_plan.h"

namespace tfemu::controllers {
namespace {

using api::Pod;
using api::PodPhase;
using api::ReplicaRestartPolicy;

constexpr int kNoExitCode = 0xbeef;  // upstream's sentinel; it counts as retryable

bool HasType(const api::ObjectMeta& meta, const std::string& type) {
  const auto it = meta.labels.find("training.kubeflow.org/replica-type");
  return it != meta.labels.end() && it->second == ToLower(type);
}

int Index(const api::ObjectMeta& meta) {
  const auto it = meta.labels.find("training.kubeflow.org/replica-index");
  return it == meta.labels.end() ? -1 : static_cast<int>(ParseInt(it->second).value_or(-1));
}

template <class T>
std::vector<const T*> OfType(const std::vector<T>& objects, const std::string& type) {
  std::vector<const T*> found;
  for (const T& object : objects)
    if (HasType(object.meta, type)) found.push_back(&object);
  return found;
}

template <class T>
bool HasIndex(const std::vector<const T*>& objects, int index) {
  return std::ranges::any_of(objects, [&](const T* object) { return Index(object->meta) == index; });
}

int ExitCode(TFJobPlan& plan, const Pod& pod) {
  int code = kNoExitCode;
  for (const api::ContainerStatus& c : pod.status.containers) {
    if (c.name != "tensorflow" || c.state.type != api::ContainerState::Type::kTerminated) continue;
    code = c.state.exit_code;
    plan.Emit(false, "ExitedWithCode",
              "Pod: " + pod.meta.ns + "." + pod.meta.name + " exited with code " + std::to_string(code));
  }
  return code;
}

void HandleFailedPod(TFJobPlan& plan, const std::string& type, const Pod& pod, int exit_code) {
  const ReplicaRestartPolicy policy = plan.job().replica_specs.at(type).restart_policy;
  if (policy == ReplicaRestartPolicy::kNever) return;
  const std::string& name = plan.job().meta.name;
  if (policy != ReplicaRestartPolicy::kExitCode || exit_code >= 128) {
    plan.DeletePod(pod);
    const std::string message = "job " + name + " is restarting because " + type + " replica(s) failed.";
    plan.Emit(true, "TFJobRestarting", message);
    plan.Set(JobConditionType::kRestarting, true, "TFJobRestarting", message);
  } else {
    const std::string message = "job \"" + name + "\" is failing because \"" + type + "\" replica(s) failed.";
    plan.Emit(true, "TFJobFailed", message);
    plan.Set(JobConditionType::kFailed, true, "TFJobFailed", message);
  }
}

void Count(api::ReplicaStatus& counts, const Pod& pod) {
  const bool running = pod.status.phase == PodPhase::kRunning;
  counts.active += running && !pod.meta.deletion_timestamp;
  counts.failed += pod.status.phase == PodPhase::kFailed || (running && pod.meta.deletion_timestamp);
  counts.succeeded += pod.status.phase == PodPhase::kSucceeded;
}

void CreatePod(TFJobPlan& plan, const std::string& type, const api::ReplicaSpec& spec, int index) {
  if (spec.template_has_restart_policy)
    plan.Emit(true, "SetPodTemplateRestartPolicy",
              "Restart policy in pod template will be overwritten by restart policy in replica spec");
  const std::string name = api::ReplicaName(plan.job(), type, index);
  plan.plan.actions.push_back(CreateObject{api::Object(api::MakeReplicaPod(plan.job(), type, index)),
                                           {plan.Event(false, "SuccessfulCreatePod", "Created pod: " + name),
                                            plan.Event(true, "FailedCreatePod", "Error creating")}});
}

void ReconcilePods(TFJobPlan& plan, const std::string& type, const api::ReplicaSpec& spec) {
  const auto pods = OfType(plan.observed.pods, type);
  api::ReplicaStatus& counts = plan.status.replica_statuses[type] = {};
  for (int i = 0; i < spec.replicas; ++i)
    if (!HasIndex(pods, i)) CreatePod(plan, type, spec, i);
  for (const Pod* pod : pods) {
    const int index = Index(pod->meta);
    if (index < 0 || index >= spec.replicas) plan.DeletePod(*pod);
    const int exit_code = ExitCode(plan, *pod);
    if (pod->status.phase == PodPhase::kFailed) HandleFailedPod(plan, type, *pod, exit_code);
    Count(counts, *pod);
  }
}

void ReconcileServices(TFJobPlan& plan, const std::string& type, const api::ReplicaSpec& spec) {
  const auto services = OfType(plan.observed.services, type);
  for (int i = 0; i < spec.replicas; ++i) {
    if (HasIndex(services, i)) continue;
    const std::string name = api::ReplicaName(plan.job(), type, i);
    plan.plan.actions.push_back(
        CreateObject{api::Object(api::MakeReplicaService(plan.job(), type, i)),
                     {plan.Event(false, "SuccessfulCreateService", "Created service: " + name),
                      plan.Event(true, "FailedCreateService", "Error creating")}});
  }
  for (const api::Service* service : services)
    if (const int index = Index(service->meta); index < 0 || index >= spec.replicas)
      plan.DeleteService(*service);
}

}  // namespace

void TFJobPlan::DeletePod(const Pod& pod) {
  if (pod.meta.deletion_timestamp) return;
  plan.actions.push_back(DeleteObject{pod.key(),
                                      pod.meta.uid,
                                      {Event(false, "SuccessfulDeletePod", "Deleted pod: " + pod.meta.name),
                                       Event(true, "FailedDeletePod", "Error deleting")}});
}

void TFJobPlan::DeleteService(const api::Service& service) {
  if (service.meta.deletion_timestamp) return;
  plan.actions.push_back(
      DeleteObject{{"Service", service.meta.ns, service.meta.name},
                   service.meta.uid,
                   {Event(false, "SuccessfulDeleteService", "Deleted service: " + service.meta.name),
                    Event(true, "FailedDeleteService", "Error deleting")}});
}

void ReconcileReplicas(TFJobPlan& plan, const std::string& type, const api::ReplicaSpec& spec) {
  ReconcilePods(plan, type, spec);
  ReconcileServices(plan, type, spec);
}

}  // namespace tfemu::controllers
