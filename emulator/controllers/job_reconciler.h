// Runs pods to completion as often as a Job asks for (kube-controller-manager 1.33, pkg/controller/job).
#pragma once

#include <vector>

#include "emulator/api/batch_job.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct JobObservation {
  api::BatchJob job;
  api::ObjectReference self;
  std::vector<api::Pod> pods;  // owned by the job, terminating ones too
  Instant now;
  int64_t time_scale = 1;  // the back-off is divided by this
};

Plan ReconcileJob(const JobObservation& observed);

// A pod whose Job is gone has nobody left who counts it.
Plan ReleaseJobPods(const std::vector<api::Pod>& pods);

}  // namespace tfemu::controllers
