#include "emulator/controllers/cron_job_reconciler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/base/time_format.h"

namespace tfemu::controllers {
namespace {

using api::BatchJob;
using api::CronJob;

constexpr int kTooManyMissed = 100;

class CronSync {
 public:
  CronSync(const CronJobObservation& observed, api::CronSchedule schedule)
      : o_(observed), schedule_(std::move(schedule)), status_(observed.cron_job.status) {}

  Plan Make() {
    NoteEnds();
    DropHistory();
    if (!cron().suspend) StartWhatIsDue();
    WriteStatus();
    return std::move(plan_);
  }

 private:
  const CronJob& cron() const { return o_.cron_job; }

  void Say(bool warning, const std::string& reason, const std::string& message) {
    plan_.actions.push_back(EmitEvent{Event(warning, reason, message)});
  }
  api::Event Event(bool warning, const std::string& reason, const std::string& message) const {
    return {o_.self, warning, reason, message, "cronjob-controller", ""};
  }

  const BatchJob* Find(const std::string& uid) const {
    const auto it = std::ranges::find(o_.jobs, uid, [](const BatchJob& job) { return job.meta.uid; });
    return it == o_.jobs.end() ? nullptr : &*it;
  }

  void NoteEnds() {
    for (const api::ObjectReference& ref : status_.active) {
      const BatchJob* job = Find(ref.uid);
      if (job == nullptr) Say(false, "MissingJob", "Active job went missing: " + ref.name);
      else if (job->finished())
        Say(false, "SawCompletedJob",
            "Saw completed job: " + ref.name +
                ", condition: " + (job->status.Is("Complete") ? "Complete" : "Failed"));
    }
    status_.active.clear();
    for (const BatchJob& job : o_.jobs) {
      if (!job.finished())
        status_.active.push_back({"batch/v1", "Job", job.meta.ns, job.meta.name, job.meta.uid});
      const auto& done = job.status.completion_time;
      if (job.status.Is("Complete") && done && (!status_.last_success || *status_.last_success < *done))
        status_.last_success = done;
    }
  }

  // The oldest go first.
  void DropHistory() {
    for (const bool succeeded : {true, false}) {
      std::vector<const BatchJob*> ended;
      for (const BatchJob& job : o_.jobs)
        if (job.status.Is(succeeded ? "Complete" : "Failed")) ended.push_back(&job);
      std::ranges::sort(ended, {}, [](const BatchJob* job) {
        return std::pair(job->status.start_time.value_or(job->meta.creation_timestamp), job->meta.name);
      });
      const auto keep = static_cast<size_t>(succeeded ? cron().keep_succeeded : cron().keep_failed);
      for (size_t i = 0; i + keep < ended.size(); ++i) Delete(*ended[i]);
    }
  }

  void Delete(const BatchJob& job) {
    if (job.meta.deletion_timestamp) return;
    plan_.actions.push_back(DeleteObject{{"Job", job.meta.ns, job.meta.name},
                                         job.meta.uid,
                                         {Event(false, "SuccessfulDelete", "Deleted job " + job.meta.name),
                                          Event(true, "FailedDelete", "Deleted job")}});
  }

  // The latest time that is due and was not served; times before it are missed for good. The one after it is
  // when to look again: "@every" counts from the last one, not from now.
  std::optional<Instant> Due() {
    Instant from = status_.last_schedule.value_or(cron().meta.creation_timestamp);
    if (cron().starting_deadline_seconds)
      from = std::max(from, Instant{o_.now.ns} + -std::chrono::seconds(*cron().starting_deadline_seconds));
    std::optional<Instant> due;
    int missed = 0;
    auto next = schedule_.Next(from);
    for (; next && *next <= o_.now; next = schedule_.Next(*next)) {
      due = next;
      if (++missed <= kTooManyMissed) continue;
      Say(true, "TooManyMissedTimes",
          "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew");
      // Far behind: the last minutes decide.
      due = Latest(std::max(*next, o_.now + -std::chrono::hours(1)), *due);
      next = schedule_.Next(*due);
      break;
    }
    if (next) plan_.requeue_after = *next - o_.now;
    return due;
  }

  Instant Latest(Instant from, Instant otherwise) const {
    Instant due = otherwise;
    for (auto next = schedule_.Next(from); next && *next <= o_.now; next = schedule_.Next(*next)) due = *next;
    return due;
  }

  void StartWhatIsDue() {
    const auto due = Due();
    if (!due || status_.last_schedule == *due) return;
    const api::Object job(api::MakeCronJobJob(cron(), *due));
    const auto named = [&](const BatchJob& other) { return other.meta.name == job.key().name; };
    if (std::ranges::any_of(o_.jobs, named)) {  // times within one minute share the name, and so the Job
      status_.last_schedule = due;
      return;
    }
    if (cron().concurrency == CronJob::Concurrency::kForbid && !status_.active.empty())
      return Say(false, "JobAlreadyActive",
                 "Not starting job because prior execution is running and concurrency policy is Forbid");
    if (cron().concurrency == CronJob::Concurrency::kReplace)
      for (const BatchJob& other : o_.jobs)
        if (!other.finished()) Delete(other);
    plan_.actions.push_back(CreateObject{job,
                                         {Event(false, "SuccessfulCreate", "Created job {name}"),
                                          Event(true, "FailedCreate", "Error creating job")}});
    status_.last_schedule = due;
  }

  void WriteStatus() {
    if (status_ != cron().status)
      plan_.actions.push_back(PatchObject{{"CronJob", cron().meta.ns, cron().meta.name},
                                          cron().meta.uid,
                                          "/status",
                                          api::Object(api::EncodeCronJobStatus(status_))});
  }

  const CronJobObservation& o_;
  api::CronSchedule schedule_;
  api::CronJobStatus status_;
  Plan plan_;
};

}  // namespace

Plan ReconcileCronJob(const CronJobObservation& observed) {
  if (observed.cron_job.meta.deletion_timestamp) return {};
  auto schedule = api::CronSchedule::Parse(observed.cron_job.schedule);
  if (!schedule.ok()) return {};  // stored before it was checked
  return CronSync(observed, std::move(schedule).value()).Make();
}

}  // namespace tfemu::controllers
