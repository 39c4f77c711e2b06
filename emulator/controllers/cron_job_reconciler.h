// Starts Jobs when they are due (kube-controller-manager's cronjob controller).
#pragma once

#include <vector>

#include "emulator/api/batch_job.h"
#include "emulator/api/cron_job.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct CronJobObservation {
  api::CronJob cron_job;
  api::ObjectReference self;
  std::vector<api::BatchJob> jobs;  // owned by the CronJob
  Instant now;
};

Plan ReconcileCronJob(const CronJobObservation& observed);

}  // namespace tfemu::controllers
