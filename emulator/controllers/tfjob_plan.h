// The plan for one TFJob while it is being made: the status to be, and the actions so far.
#pragma once

#include "emulator/controllers/tfjob_conditions.h"
#include "emulator/controllers/tfjob_reconciler.h"

namespace tfemu::controllers {

struct TFJobPlan {
  explicit TFJobPlan(const TFJobObservation& o) : observed(o), status(o.job.status) {}

  const TFJobObservation& observed;
  api::TFJobStatus status;
  Plan plan;

  const api::TFJob& job() const { return observed.job; }
  const api::TFJobSettings& settings() const { return observed.settings; }
  std::string FullName() const { return job().meta.ns + "/" + job().meta.name; }

  api::Event Event(bool warning, std::string reason, std::string message) const {
    return {observed.self, warning, std::move(reason), std::move(message), "tfjob-controller", ""};
  }
  void Emit(bool warning, std::string reason, std::string message) {
    plan.actions.push_back(EmitEvent{Event(warning, std::move(reason), std::move(message))});
  }
  void Set(JobConditionType type, bool value, const std::string& reason, const std::string& message) {
    SetCondition(status, type, value, reason, message, observed.now);
  }
  // Terminating objects are left alone: deleting them again is silent success upstream.
  void DeletePod(const api::Pod& pod);
  void DeleteService(const api::Service& service);
};

// Creates and deletes the pods, then the services, of one replica type, and counts its pods.
void ReconcileReplicas(TFJobPlan& plan, const std::string& type, const api::ReplicaSpec& spec);

// The types that say whether the job runs or has succeeded: its chief or master, else its workers.
bool Drives(const api::TFJob& job, const std::string& type);

// Worker 0 ended with exit code 0, or there are no workers.
bool WorkerZeroCompleted(const api::TFJob& job, const std::vector<api::Pod>& pods);

// Sets Running, Succeeded or Failed from the counts (tfjob-controller.md 3.4).
void DecideStatus(TFJobPlan& plan);

// backoffLimit (tfjob-controller.md 4.3) or activeDeadlineSeconds (4.4) is exceeded: the message, else "".
std::string ExceededLimit(const TFJobObservation& observed);

}  // namespace tfemu::controllers
