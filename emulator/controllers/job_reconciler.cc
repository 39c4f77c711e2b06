#include "emulator/controllers/job_reconciler.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/controllers/job_failures.h"

namespace tfemu::controllers {
namespace {

using api::BatchJob;
using api::BatchJobStatus;
using api::Pod;

constexpr Duration kFirstBackOff = std::chrono::seconds(10), kLongestBackOff = std::chrono::minutes(10);

bool Contains(const std::vector<std::string>& uids, const std::string& uid) {
  return std::ranges::find(uids, uid) != uids.end();
}

bool Tracked(const Pod& pod) {
  return std::ranges::find(pod.meta.finalizers, api::kJobTrackingFinalizer) != pod.meta.finalizers.end();
}

class JobSync {
 public:
  explicit JobSync(const JobObservation& observed)
      : o_(observed), job_(observed.job), status_(observed.job.status) {}

  Plan Run() {
    Count();
    if (job_.finished()) {
      DeleteActive();
      CleanUpLater();
    } else if (!job_.meta.deletion_timestamp) {
      Decide();
    }
    Finish();
    return std::move(plan_);
  }

 private:
  void Say(bool warning, const std::string& reason, const std::string& message) {
    events_.push_back({o_.self, warning, reason, message, "job-controller", ""});
  }
  api::Event Event(bool warning, const char* reason, const std::string& message) const {
    return {o_.self, warning, reason, message, "job-controller", ""};
  }

  // Ended pods go through `uncounted` into the counts: the status that names them is stored before their
  // finalizer goes, so none is counted twice or never.
  void Count() {
    Settle(status_.uncounted_succeeded, status_.succeeded);
    Settle(status_.uncounted_failed, status_.failed);
    for (const Pod& pod : o_.pods) {
      const bool ended = pod.finished() || (pod.meta.deletion_timestamp && pod.spec.node_name.empty());
      if (!ended) {
        if (!pod.meta.deletion_timestamp) active_.push_back(&pod);
        else ++terminating_;
        continue;
      }
      if (!Tracked(pod)) continue;
      untrack_.push_back(&pod);
      if (Contains(status_.uncounted_succeeded, pod.meta.uid) ||
          Contains(status_.uncounted_failed, pod.meta.uid))
        continue;
      if (pod.status.phase == api::PodPhase::kSucceeded) CountSuccess(pod);
      else CountFailure(pod);
    }
  }

  // Those whose finalizer is off are final.
  void Settle(std::vector<std::string>& uncounted, int& count) {
    std::erase_if(uncounted, [&](const std::string& uid) {
      const auto pod = std::ranges::find(o_.pods, uid, [](const Pod& p) { return p.meta.uid; });
      if (pod != o_.pods.end() && Tracked(*pod)) return false;
      ++count;
      return true;
    });
  }

  void CountSuccess(const Pod& pod) {
    const auto index = api::CompletionIndex(pod);
    // A second success of an index changes nothing.
    if (job_.indexed && (!index || !status_.completed_indexes.insert(*index).second)) return;
    status_.uncounted_succeeded.push_back(pod.meta.uid);
  }

  void CountFailure(const Pod& pod) {
    const Failure failure = JudgeFailure(job_, pod);
    if (failure.action == api::PodFailureRule::Action::kFailJob && failure_message_.empty())
      failure_message_ = failure.message;
    if (failure.action != api::PodFailureRule::Action::kIgnore)
      status_.uncounted_failed.push_back(pod.meta.uid);
  }

  int Succeeded() const { return status_.succeeded + static_cast<int>(status_.uncounted_succeeded.size()); }
  int Failed() const { return status_.failed + static_cast<int>(status_.uncounted_failed.size()); }

  void Decide() {
    if (job_.suspend) return Suspend();
    if (status_.Is("Suspended")) {
      SetCondition("Suspended", false, "JobResumed", "Job resumed");
      Say(false, "Resumed", "Job resumed");
      status_.start_time.reset();
    }
    if (!status_.start_time) status_.start_time = o_.now;
    if (!failure_message_.empty()) return Fail("PodFailurePolicy", failure_message_);
    if (Failed() > job_.backoff_limit || Restarts() > job_.backoff_limit)
      return Fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    if (PastDeadline()) return Fail("DeadlineExceeded", "Job was active longer than specified deadline");
    if (Complete()) return Succeed();
    Scale();
  }

  // With OnFailure the kubelet restarts containers in their pod; those count as well.
  int Restarts() const {
    int restarts = 0;
    for (const Pod* pod : active_) {
      if (pod->spec.restart_policy != api::RestartPolicy::kOnFailure) continue;
      for (const auto* list : {&pod->status.init_containers, &pod->status.containers})
        for (const api::ContainerStatus& container : *list) restarts += container.restart_count;
    }
    return restarts;
  }

  bool PastDeadline() {
    if (!job_.active_deadline_seconds) return false;
    const Instant end = *status_.start_time + std::chrono::seconds(*job_.active_deadline_seconds);
    if (o_.now >= end) return true;
    LookAgain(end - o_.now);
    return false;
  }

  bool Complete() const {
    if (job_.completions) return Succeeded() >= *job_.completions;
    return Succeeded() > 0 && active_.empty();
  }

  void Suspend() {
    DeleteActive();
    if (status_.Is("Suspended")) return;
    SetCondition("Suspended", true, "JobSuspended", "Job suspended");
    Say(false, "Suspended", "Job suspended");
  }

  void Fail(const char* reason, const std::string& message) {
    DeleteActive();
    SetCondition("FailureTarget", true, reason, message);
    SetCondition("Failed", true, reason, message);
    Say(true, reason, message);
    CleanUpLater();
  }

  void Succeed() {
    DeleteActive();
    const char* message = "Reached expected number of succeeded pods";
    SetCondition("SuccessCriteriaMet", true, "CompletionsReached", message);
    SetCondition("Complete", true, "CompletionsReached", message);
    status_.completion_time = o_.now;
    Say(false, "Completed", "Job completed");
    CleanUpLater();
  }

  void SetCondition(const std::string& type, bool value, const std::string& reason,
                    const std::string& message) {
    auto it = std::ranges::find(status_.conditions, type, &api::BatchJobCondition::type);
    if (it == status_.conditions.end()) it = status_.conditions.insert(it, {type});
    *it = {type, value, reason, message, o_.now, o_.now};
  }

  int Wanted() const {
    if (!job_.completions) return Succeeded() > 0 ? static_cast<int>(active_.size()) : job_.parallelism;
    return std::min(job_.parallelism, *job_.completions - Succeeded());
  }

  void Scale() {
    const int missing = Wanted() - static_cast<int>(active_.size()) - terminating_;
    if (missing < 0) return DeleteSome(Wanted());
    if (missing == 0) return;
    if (const Duration wait = BackOff(); wait > Duration(0)) return LookAgain(wait);
    const std::vector<std::optional<int>> indexes = FreeIndexes(missing);
    for (const auto& index : indexes)
      plan_.actions.push_back(CreateObject{api::Object(api::MakeJobPod(job_, index)),
                                           {Event(false, "SuccessfulCreate", "Created pod: {name}"),
                                            Event(true, "FailedCreate", "Error creating")}});
    created_ = static_cast<int>(indexes.size());
  }

  std::vector<std::optional<int>> FreeIndexes(int count) const {
    std::vector<std::optional<int>> indexes;
    if (!job_.indexed) return std::vector<std::optional<int>>(static_cast<size_t>(count));
    std::set<int> taken = status_.completed_indexes;
    for (const Pod& pod : o_.pods)
      if (const auto index = api::CompletionIndex(pod); index && !pod.finished()) taken.insert(*index);
    for (int i = 0; i < *job_.completions && static_cast<int>(indexes.size()) < count; ++i)
      if (!taken.contains(i)) indexes.emplace_back(i);
    return indexes;
  }

  // 10 s after the first failure, twice as long after each that follows without a success in between.
  Duration BackOff() const {
    int failures = 0;
    Instant last{};
    std::vector<const Pod*> ended;
    for (const Pod& pod : o_.pods)
      if (pod.finished()) ended.push_back(&pod);
    std::ranges::sort(ended, {}, [](const Pod* pod) { return EndOf(*pod); });
    for (const Pod* pod : ended) {
      failures = pod->status.phase == api::PodPhase::kFailed ? failures + 1 : 0;
      last = EndOf(*pod);
    }
    if (failures == 0) return Duration(0);
    const Duration wait =
        std::min(kFirstBackOff * (int64_t{1} << std::min(failures - 1, 20)), kLongestBackOff);
    return last + wait / o_.time_scale - o_.now;
  }

  // What is deleted on purpose is not counted.
  void Delete(const Pod& pod) {
    plan_.actions.push_back(
        PatchObject{pod.key(), pod.meta.uid, "", api::Object(api::UntrackPatch(pod.meta))});
    plan_.actions.push_back(DeleteObject{pod.key(),
                                         pod.meta.uid,
                                         {Event(false, "SuccessfulDelete", "Deleted pod: " + pod.meta.name),
                                          Event(true, "FailedDelete", "Error deleting")}});
    ++deleted_;
  }

  void DeleteActive() {
    for (const Pod* pod : active_) Delete(*pod);
  }

  void DeleteSome(int keep) {
    std::vector<const Pod*> order = active_;  // those that do least go first
    std::ranges::stable_sort(
        order, {}, [](const Pod* pod) { return std::pair(pod->ready(), -pod->meta.creation_timestamp.ns); });
    for (size_t i = 0; i + static_cast<size_t>(keep) < order.size(); ++i) Delete(*order[i]);
  }

  void CleanUpLater() {
    if (!job_.ttl_seconds_after_finished || job_.meta.deletion_timestamp) return;
    Instant end = o_.now;
    for (const api::BatchJobCondition& c : status_.conditions)
      if ((c.type == "Complete" || c.type == "Failed") && c.status) end = c.last_transition;
    const Instant due = end + std::chrono::seconds(*job_.ttl_seconds_after_finished);
    if (o_.now < due) return LookAgain(due - o_.now);
    plan_.actions.push_back(DeleteObject{{"Job", job_.meta.ns, job_.meta.name}, job_.meta.uid, {}});
  }

  void LookAgain(Duration after) {
    plan_.requeue_after = plan_.requeue_after ? std::min(*plan_.requeue_after, after) : after;
  }

  void Finish() {
    status_.active = static_cast<int>(active_.size()) + created_ - deleted_;
    status_.terminating = terminating_ + deleted_;
    status_.ready =
        static_cast<int>(std::ranges::count_if(active_, [](const Pod* pod) { return pod->ready(); }));
    if (job_.finished() || deleted_ > 0) status_.ready = 0;
    if (status_ != job_.status)
      plan_.actions.push_back(PatchObject{{"Job", job_.meta.ns, job_.meta.name},
                                          job_.meta.uid,
                                          "/status",
                                          api::Object(api::EncodeBatchJobStatus(status_))});
    for (const Pod* pod : untrack_)
      plan_.actions.push_back(
          PatchObject{pod->key(), pod->meta.uid, "", api::Object(api::UntrackPatch(pod->meta))});
    for (const api::Event& event : events_) plan_.actions.push_back(EmitEvent{event});
  }

  const JobObservation& o_;
  const BatchJob& job_;
  BatchJobStatus status_;
  std::vector<const Pod*> active_, untrack_;
  std::vector<api::Event> events_;
  std::string failure_message_;
  int terminating_ = 0, created_ = 0, deleted_ = 0;
  Plan plan_;
};

}  // namespace

Plan ReconcileJob(const JobObservation& observed) { return JobSync(observed).Run(); }

Plan ReleaseJobPods(const std::vector<Pod>& pods) {
  Plan plan;
  for (const Pod& pod : pods)
    if (Tracked(pod))
      plan.actions.push_back(
          PatchObject{pod.key(), pod.meta.uid, "", api::Object(api::UntrackPatch(pod.meta))});
  return plan;
}

}  // namespace tfemu::controllers
