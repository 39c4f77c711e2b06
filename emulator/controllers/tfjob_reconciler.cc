#include "emulator/controllers/tfjob_reconciler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/controllers/tfjob_plan.h"

namespace tfemu::controllers {
namespace {

using api::CleanPodPolicy;
using api::Pod;
using api::PodPhase;

void DeletePodAndService(TFJobPlan& plan, const Pod& pod) {
  plan.DeletePod(pod);
  const auto service =
      std::ranges::find(plan.observed.services, pod.meta.name,
                        [](const api::Service& s) -> const std::string& { return s.meta.name; });
  if (service != plan.observed.services.end()) plan.DeleteService(*service);
}

void DeleteAll(TFJobPlan& plan) {
  for (const Pod& pod : plan.observed.pods) DeletePodAndService(plan, pod);
}

void CleanUp(TFJobPlan& plan) {
  const CleanPodPolicy policy =
      plan.job().run_policy.clean_pod_policy.value_or(plan.settings().clean_pod_policy_default);
  if (policy == CleanPodPolicy::kNone) return;
  for (const Pod& pod : plan.observed.pods)
    if (policy == CleanPodPolicy::kAll || pod.status.phase == PodPhase::kRunning ||
        pod.status.phase == PodPhase::kPending)
      DeletePodAndService(plan, pod);
}

// ttlSecondsAfterFinished: the job itself goes, or is looked at again when its time has come.
void Expire(TFJobPlan& plan) {
  const auto& ttl = plan.job().run_policy.ttl_seconds_after_finished;
  if (!ttl || !plan.status.completion_time) return;
  const Instant due = *plan.status.completion_time + std::chrono::seconds(*ttl);
  if (plan.observed.now > due) {
    const std::string& name = plan.job().meta.name;
    plan.plan.actions.push_back(
        DeleteObject{plan.job().key(),
                     plan.job().meta.uid,
                     {plan.Event(false, "SuccessfulDeleteJob", "Deleted job: " + name),
                      plan.Event(true, "FailedDeleteJob", "Error deleting")}});
  } else {
    plan.plan.requeue_after = due - plan.observed.now + Duration(1);
  }
}

void Finish(TFJobPlan& plan) {
  CleanUp(plan);
  if (plan.status.Has("Succeeded")) {
    for (auto& [type, counts] : plan.status.replica_statuses) {
      counts.succeeded += counts.active;
      counts.active = 0;
    }
  }
  Expire(plan);
}

void Suspend(TFJobPlan& plan) {
  DeleteAll(plan);
  for (auto& [type, counts] : plan.status.replica_statuses) counts.active = 0;
  const std::string message = "TFJob " + plan.job().meta.name + " is suspended.";
  if (plan.status.Has("Running")) plan.Set(JobConditionType::kRunning, false, "TFJobSuspended", message);
  plan.Set(JobConditionType::kSuspended, true, "TFJobSuspended", message);
  plan.Emit(false, "TFJobSuspended", message);
}

void Resume(TFJobPlan& plan) {
  const std::string message = "TFJob " + plan.job().meta.name + " is resumed.";
  plan.Set(JobConditionType::kSuspended, false, "TFJobResumed", message);
  plan.status.start_time = plan.observed.now;
  plan.Emit(false, "TFJobResumed", message);
}

void FailByLimit(TFJobPlan& plan, const std::string& message) {
  if (!plan.status.completion_time) plan.status.completion_time = plan.observed.now;
  if (plan.settings().clean_pod_policy_at_limits) CleanUp(plan);
  else DeleteAll(plan);  // whatever cleanPodPolicy says: the recording of 1.9.3 shows it under None
  plan.Emit(false, "TFJobFailed", message);
  plan.Set(JobConditionType::kFailed, true, "TFJobFailed", message);
}

void Work(TFJobPlan& plan) {
  if (plan.status.Has("Suspended")) Resume(plan);
  if (const std::string message = ExceededLimit(plan.observed); !message.empty())
    return FailByLimit(plan, message);
  for (const auto& [type, spec] : plan.job().replica_specs) ReconcileReplicas(plan, type, spec);
  if (!plan.status.start_time) plan.status.start_time = plan.observed.now;
  DecideStatus(plan);
  if (const auto& deadline = plan.job().run_policy.active_deadline_seconds;
      deadline && !plan.status.finished() && !plan.settings().strict_upstream_quirks)
    plan.plan.requeue_after = *plan.status.start_time + std::chrono::seconds(*deadline) - plan.observed.now;
}

// An empty map never gets anywhere upstream: its expectations are never satisfied.
bool Managed(const api::TFJob& job) {
  const auto& by = job.run_policy.managed_by;
  return !job.replica_specs.empty() && (!by || *by == api::kTrainingOperator);
}

}  // namespace

Plan ReconcileTFJob(const TFJobObservation& observed) {
  const api::TFJob& job = observed.job;
  if (job.meta.deletion_timestamp || !Managed(job)) return {};
  TFJobPlan plan(observed);
  if (plan.status.conditions.empty())
    plan.Set(JobConditionType::kCreated, true, "TFJobCreated", "TFJob " + job.meta.name + " is created.");
  if (plan.status.finished()) Finish(plan);
  else if (job.run_policy.suspend) Suspend(plan);
  else Work(plan);
  if (plan.status != job.status)
    plan.plan.actions.push_back(
        PatchObject{job.key(), job.meta.uid, "/status", api::Object(api::EncodeTFJobStatus(plan.status))});
  return std::move(plan.plan);
}

}  // namespace tfemu::controllers
