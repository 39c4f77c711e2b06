// How a TFJob's counts become its conditions (training-operator v1.9.4 tfjob_controller.go,
// tfjob-controller.md 3.4, 4.3, 4.4).
#include <algorithm>

#include "emulator/controllers/tfjob_plan.h"

namespace tfemu::controllers {
namespace {

using api::Pod;
using api::PodPhase;

void Succeed(TFJobPlan& plan) {
  const std::string message = "TFJob " + plan.FullName() + " successfully completed.";
  plan.Emit(false, "TFJobSucceeded", message);
  if (!plan.status.completion_time) plan.status.completion_time = plan.observed.now;
  plan.Set(JobConditionType::kSucceeded, true, "TFJobSucceeded", message);
}

void Run(TFJobPlan& plan) {
  plan.Set(JobConditionType::kRunning, true, "TFJobRunning", "TFJob " + plan.FullName() + " is running.");
}

void Fail(TFJobPlan& plan, const std::string& type, int failed) {
  const std::string message = "TFJob " + plan.FullName() + " has failed because " + std::to_string(failed) +
                              " " + type + " replica(s) failed.";
  plan.Emit(false, "TFJobFailed", message);
  if (!plan.status.completion_time) plan.status.completion_time = plan.observed.now;
  plan.Set(JobConditionType::kFailed, true, "TFJobFailed", message);
}

void DecideRunningOrSucceeded(TFJobPlan& plan, const std::string& type, const api::ReplicaStatus& counts,
                              int expected) {
  if (plan.job().has_chief()) {
    if (counts.active > 0) Run(plan);
    if (expected == 0) Succeed(plan);
    return;
  }
  const bool all_needed = plan.job().success_policy == "AllWorkers";
  if (expected == 0 ||
      (type == "Worker" && !all_needed && WorkerZeroCompleted(plan.job(), plan.observed.pods)))
    Succeed(plan);
  else if (counts.active > 0) Run(plan);
}

// Restarts of pods that restart in place; a pod that was replaced starts again from zero.
int64_t RestartsInPlace(const TFJobObservation& observed) {
  int64_t sum = 0;
  for (const Pod& pod : observed.pods) {
    if (pod.status.phase != PodPhase::kRunning || pod.spec.restart_policy == api::RestartPolicy::kNever)
      continue;
    for (const auto* list : {&pod.status.init_containers, &pod.status.containers})
      for (const auto& c : *list) sum += c.restart_count;
  }
  return sum;
}

bool BackoffLimitExceeded(const TFJobObservation& observed, int64_t limit) {
  const int64_t restarts = RestartsInPlace(observed);
  if (limit < 0 || (limit == 0 ? restarts > 0 : restarts >= limit)) return true;
  int failed = 0, active = 0, total = 0, recorded = 0;
  for (const Pod& pod : observed.pods) {
    failed += pod.status.phase == PodPhase::kFailed;
    active += !pod.finished() && !pod.meta.deletion_timestamp;
  }
  for (const auto& [type, spec] : observed.job.replica_specs) total += spec.replicas;
  for (const auto& [type, counts] : observed.job.status.replica_statuses) recorded += counts.failed;
  return failed > recorded && active != total && 1 > limit;
}

}  // namespace

bool Drives(const api::TFJob& job, const std::string& type) {
  return job.has_chief() ? type == "Chief" || type == "Master" : type == "Worker";
}

bool WorkerZeroCompleted(const api::TFJob& job, const std::vector<Pod>& pods) {
  if (!job.replica_specs.contains("Worker")) return true;
  return std::ranges::any_of(pods, [](const Pod& pod) {
    return api::ReplicaTypeOf(pod.meta.labels) == "worker" && api::ReplicaIndexOf(pod.meta.labels) == 0 &&
           pod.status.phase == PodPhase::kSucceeded &&
           std::ranges::any_of(pod.status.containers, [](const auto& c) {
             return c.name == "tensorflow" && c.state.type == api::ContainerState::Type::kTerminated &&
                    c.state.exit_code == 0;
           });
  });
}

std::string ExceededLimit(const TFJobObservation& observed) {
  const api::TFJob& job = observed.job;
  const auto& policy = job.run_policy;
  if (policy.backoff_limit && BackoffLimitExceeded(observed, *policy.backoff_limit))
    return "Job " + job.meta.name + " has failed because it has reached the specified backoff limit";
  if (policy.active_deadline_seconds && job.status.start_time &&
      observed.now - *job.status.start_time >= std::chrono::seconds(*policy.active_deadline_seconds))
    return "Job " + job.meta.name + " has failed because it was active longer than specified deadline";
  return "";
}

void DecideStatus(TFJobPlan& plan) {
  // What was Restarting when this step began explains the failed pods of every type.
  const bool restarting = plan.status.Has("Restarting");
  for (const auto canonical : api::kReplicaTypes) {
    const std::string type(canonical);
    const auto spec = plan.job().replica_specs.find(type);
    if (spec == plan.job().replica_specs.end()) continue;
    const api::ReplicaStatus counts = plan.status.replica_statuses[type];
    const int expected = spec->second.replicas - counts.succeeded;
    if (Drives(plan.job(), type)) DecideRunningOrSucceeded(plan, type, counts, expected);
    if (counts.failed == 0) continue;
    if (restarting) {
      const std::string message =
          "job " + plan.job().meta.name + " is restarting because " + type + " replica(s) failed.";
      plan.Set(JobConditionType::kRestarting, true, "TFJobRestarting", message);
    } else if (!(plan.job().enable_dynamic_worker && type == "Worker")) {
      Fail(plan, type, counts.failed);
    }
  }
}

}  // namespace tfemu::controllers
