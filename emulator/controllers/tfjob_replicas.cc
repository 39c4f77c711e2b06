// The pods and services of one replica type (training-operator v1.9.4 pod.go and service.go,
// tfjob-controller.md 3.5, 4.1).
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"
#include "emulator/controllers/tfjob_plan.h"

namespace tfemu::controllers {
namespace {

using api::Pod;
using api::PodPhase;
using api::ReplicaRestartPolicy;

constexpr int kNoExitCode = 0xbeef;  // upstream's sentinel; it counts as retryable

// By index; what has none is nobody's replica, and is left alone.
template <class T>
std::multimap<int, const T*> OfType(const std::vector<T>& objects, const std::string& type) {
  std::multimap<int, const T*> found;
  for (const T& object : objects) {
    const auto index = api::ReplicaIndexOf(object.meta.labels);
    if (api::ReplicaTypeOf(object.meta.labels) == ToLower(type) && index.value_or(-1) >= 0)
      found.emplace(*index, &object);
  }
  return found;
}

// How many indices are filled. Upstream fills every index up to the last that is there, and index 0 always:
// it then deletes in the next pass what is too much. That ends only for a type that ends the job at once,
// which is what the recording shows of zero workers.
int Slots(const TFJobPlan& plan, const std::string& type, int replicas, int last) {
  if (plan.settings().strict_upstream_quirks) return std::max({replicas, last + 1, 1});
  return replicas == 0 && Drives(plan.job(), type) ? 1 : replicas;
}

template <class T>
int Last(const std::multimap<int, const T*>& objects) {
  return objects.empty() ? -1 : objects.rbegin()->first;
}

bool IsRetryable(int exit_code, const api::TFJobSettings& settings) {
  if (!settings.retry_by_list) return exit_code >= 128;
  return exit_code == 130 || exit_code == 137 || exit_code == 138 || exit_code == 143;
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
  if (policy != ReplicaRestartPolicy::kExitCode || IsRetryable(exit_code, plan.settings())) {
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
  plan.plan.actions.push_back(
      CreateObject{api::Object(api::MakeReplicaPod(plan.job(), type, index, plan.settings())),
                   {plan.Event(false, "SuccessfulCreatePod", "Created pod: " + name),
                    plan.Event(true, "FailedCreatePod", "Error creating")},
                   type});
}

void ReconcilePods(TFJobPlan& plan, const std::string& type, const api::ReplicaSpec& spec) {
  const auto pods = OfType(plan.observed.pods, type);
  api::ReplicaStatus& counts = plan.status.replica_statuses[type] = {};
  const int slots = Slots(plan, type, spec.replicas, Last(pods));
  for (int i = 0; i < slots; ++i)
    if (!pods.contains(i)) CreatePod(plan, type, spec, i);
  for (const auto& [index, pod] : pods) {
    if (index >= spec.replicas) plan.DeletePod(*pod);
    const int exit_code = ExitCode(plan, *pod);
    if (pod->status.phase == PodPhase::kFailed) HandleFailedPod(plan, type, *pod, exit_code);
    Count(counts, *pod);
  }
}

void ReconcileServices(TFJobPlan& plan, const std::string& type, const api::ReplicaSpec& spec) {
  const auto services = OfType(plan.observed.services, type);
  const int slots = Slots(plan, type, spec.replicas, Last(services));
  for (int i = 0; i < slots; ++i) {
    if (services.contains(i)) continue;
    const std::string name = api::ReplicaName(plan.job(), type, i);
    plan.plan.actions.push_back(
        CreateObject{api::Object(api::MakeReplicaService(plan.job(), type, i)),
                     {plan.Event(false, "SuccessfulCreateService", "Created service: " + name),
                      plan.Event(true, "FailedCreateService", "Error creating")},
                     type});
  }
  for (const auto& [index, service] : services)
    if (index >= spec.replicas) plan.DeleteService(*service);
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
