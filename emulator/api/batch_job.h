// batch/v1 Job.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/api/pod.h"

namespace tfemu::api {

// The pods of a Job carry it until the Job has counted how they ended.
inline constexpr const char* kJobTrackingFinalizer = "batch.kubernetes.io/job-tracking";

struct PodFailureRule {
  enum class Action { kFailJob, kIgnore, kCount };
  struct Condition {
    std::string type, status;
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  Action action = Action::kCount;
  bool by_exit_code = false;
  std::string container;  // "": any
  bool in = true;         // or not in
  std::set<int64_t> exit_codes;
  std::vector<Condition> conditions;  // any of them
  friend bool operator==(const PodFailureRule&, const PodFailureRule&) = default;
};

struct BatchJobCondition {
  std::string type;
  bool status = false;
  std::string reason, message;
  Instant last_probe, last_transition;
  friend bool operator==(const BatchJobCondition&, const BatchJobCondition&) = default;
};

struct BatchJobStatus {
  std::optional<Instant> start_time, completion_time;
  int active = 0, ready = 0, terminating = 0, succeeded = 0, failed = 0;
  std::set<int> completed_indexes;
  // Pods that have ended and are not in the counts yet; see kJobTrackingFinalizer.
  std::vector<std::string> uncounted_succeeded, uncounted_failed;  // uids
  std::vector<BatchJobCondition> conditions;

  bool Is(std::string_view condition) const;
  friend bool operator==(const BatchJobStatus&, const BatchJobStatus&) = default;
};

struct BatchJob {
  ObjectMeta meta;
  std::optional<int> completions;
  int parallelism = 1, backoff_limit = 6;
  bool indexed = false, suspend = false;
  std::optional<int64_t> active_deadline_seconds, ttl_seconds_after_finished;
  std::vector<PodFailureRule> failure_rules;
  Object pod_template;
  BatchJobStatus status;

  bool finished() const { return status.Is("Complete") || status.Is("Failed"); }
};

BatchJob DecodeBatchJob(const Object& object);
Json EncodeBatchJobStatus(const BatchJobStatus& status);

void SetBatchJobDefaults(Json& job);
std::vector<FieldMessage> ValidateBatchJob(const Json& job, const Json* previous);
// What the API server adds to a new Job: the selector by its uid, and the labels that it selects.
void AdmitBatchJob(Json& job);

// "0-2,4" and back.
std::string FormatIndexes(const std::set<int>& indexes);
std::set<int> ParseIndexes(const std::string& text);

// `index` is set for a Job with completionMode Indexed; the name is given by whoever stores it.
Json MakeJobPod(const BatchJob& job, std::optional<int> index);
std::optional<int> CompletionIndex(const Pod& pod);
// Merge patch, of the whole document, that takes the tracking finalizer off.
Json UntrackPatch(const ObjectMeta& pod);

}  // namespace tfemu::api
