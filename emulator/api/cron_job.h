// batch/v1 CronJob.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/cron_schedule.h"
#include "emulator/api/meta.h"

namespace tfemu::api {

struct CronJobStatus {
  std::vector<ObjectReference> active;
  std::optional<Instant> last_schedule, last_success;
  friend bool operator==(const CronJobStatus&, const CronJobStatus&) = default;
};

struct CronJob {
  enum class Concurrency { kAllow, kForbid, kReplace };
  ObjectMeta meta;
  std::string schedule;
  bool suspend = false;
  Concurrency concurrency = Concurrency::kAllow;
  std::optional<int64_t> starting_deadline_seconds;
  int keep_succeeded = 3, keep_failed = 1;
  Object job_template;
  CronJobStatus status;
};

CronJob DecodeCronJob(const Object& object);
Json EncodeCronJobStatus(const CronJobStatus& status);
void SetCronJobDefaults(Json& cron_job);
std::vector<FieldMessage> ValidateCronJob(const Json& cron_job, const Json* previous);
// Its name says when it was due: minutes since 1970.
Json MakeCronJobJob(const CronJob& cron_job, Instant due);

}  // namespace tfemu::api
