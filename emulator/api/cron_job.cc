#include "emulator/api/cron_job.h"

#include <nlohmann/json.hpp>

#include "emulator/api/batch_job.h"
#include "emulator/api/decode.h"
#include "emulator/api/validation.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

constexpr size_t kLongestName = 52;  // eleven characters are left for the time in the names of its Jobs
constexpr int64_t kMinute = 60'000'000'000;

CronJob::Concurrency DecodeConcurrency(const std::string& text) {
  if (text == "Forbid") return CronJob::Concurrency::kForbid;
  return text == "Replace" ? CronJob::Concurrency::kReplace : CronJob::Concurrency::kAllow;
}

std::optional<Instant> Time(const Json& object, const char* name) {
  return Member(object, name).is_string() ? ParseTime(Text(object, name)) : std::nullopt;
}

}  // namespace

CronJob DecodeCronJob(const Object& object) {
  const Json& spec = Member(object.doc(), "spec");
  const Json& status = Member(object.doc(), "status");
  const Json& made = Member(spec, "jobTemplate");
  CronJob decoded{.meta = DecodeMeta(object),
                  .job_template = Object(made.is_object() ? made : Json::object())};
  decoded.schedule = Text(spec, "schedule");
  decoded.suspend = Bool(spec, "suspend");
  decoded.concurrency = DecodeConcurrency(Text(spec, "concurrencyPolicy"));
  decoded.starting_deadline_seconds = Int(spec, "startingDeadlineSeconds");
  decoded.keep_succeeded = static_cast<int>(Int(spec, "successfulJobsHistoryLimit").value_or(3));
  decoded.keep_failed = static_cast<int>(Int(spec, "failedJobsHistoryLimit").value_or(1));
  for (const Json& ref : Items(status, "active"))
    decoded.status.active.push_back({Text(ref, "apiVersion"), Text(ref, "kind"), Text(ref, "namespace"),
                                     Text(ref, "name"), Text(ref, "uid")});
  decoded.status.last_schedule = Time(status, "lastScheduleTime");
  decoded.status.last_success = Time(status, "lastSuccessfulTime");
  return decoded;
}

Json EncodeCronJobStatus(const CronJobStatus& status) {
  const auto time = [](const std::optional<Instant>& t) { return t ? Json(FormatTime(*t)) : Json(nullptr); };
  Json active = Json::array();
  for (const ObjectReference& ref : status.active)
    active.push_back(Json::object({{"apiVersion", ref.api_version},
                                   {"kind", ref.kind},
                                   {"namespace", ref.ns},
                                   {"name", ref.name},
                                   {"uid", ref.uid}}));
  return Json::object({{"active", active.empty() ? Json(nullptr) : std::move(active)},
                       {"lastScheduleTime", time(status.last_schedule)},
                       {"lastSuccessfulTime", time(status.last_success)}});
}

void SetCronJobDefaults(Json& cron_job) {
  Json& spec = cron_job["spec"];
  SetDefault(spec, "concurrencyPolicy", "Allow");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "successfulJobsHistoryLimit", 3);
  SetDefault(spec, "failedJobsHistoryLimit", 1);
  if (Member(Member(spec, "jobTemplate"), "spec").is_object()) SetBatchJobDefaults(spec["jobTemplate"]);
}

std::vector<FieldMessage> ValidateCronJob(const Json& cron_job, const Json*) {
  Messages messages;
  CheckMeta(cron_job, messages);
  if (Text(Member(cron_job, "metadata"), "name").size() > kLongestName)
    messages.push_back({"metadata.name", "Invalid value: must be no more than 52 characters"});
  const Json& spec = Member(cron_job, "spec");
  const std::string schedule = Text(spec, "schedule");
  if (schedule.empty()) messages.push_back({"spec.schedule", "Required value"});
  else if (const auto parsed = CronSchedule::Parse(schedule); !parsed.ok())
    messages.push_back({"spec.schedule", "Invalid value: \"" + schedule + "\": " + parsed.error().message});
  CheckOneOf(spec, "concurrencyPolicy", "spec", {"Allow", "Forbid", "Replace"}, messages);
  for (const char* name : {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"})
    CheckNotNegative(spec, name, "spec", messages);
  Json job = Member(spec, "jobTemplate");
  if (!Member(job, "spec").is_object()) {
    messages.push_back({"spec.jobTemplate.spec", "Required value"});
    return messages;
  }
  job["metadata"]["name"] = "job";  // whatever it will be called
  for (FieldMessage& message : ValidateBatchJob(job, nullptr))
    messages.push_back({"spec.jobTemplate." + message.field, message.message});
  return messages;
}

Json MakeCronJobJob(const CronJob& cron_job, Instant due) {
  Json job = cron_job.job_template.doc();
  job["apiVersion"] = "batch/v1";
  job["kind"] = "Job";
  Json& meta = job["metadata"];
  meta["name"] = cron_job.meta.name + "-" + std::to_string(due.ns / kMinute);
  meta["namespace"] = cron_job.meta.ns;
  meta["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] = FormatTime(due);
  meta["ownerReferences"] =
      EncodeOwnerReferences({ControllerReference("batch/v1", "CronJob", cron_job.meta)});
  return job;
}

}  // namespace tfemu::api
