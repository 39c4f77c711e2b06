// kubeflow.org/v1 TFJob (training-operator v1.9.4; tfjob-controller.md sections 1 to 3).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/meta.h"

namespace tfemu::api {

// Canonical replica types, in the order in which the operator visits them for status.
inline constexpr std::string_view kReplicaTypes[] = {"Chief", "Evaluator", "Master", "PS", "Worker"};

enum class ReplicaRestartPolicy { kAlways, kOnFailure, kNever, kExitCode };

struct ReplicaSpec {
  int replicas = 1;
  ReplicaRestartPolicy restart_policy = ReplicaRestartPolicy::kNever;
  bool template_has_restart_policy = false;  // it is overwritten, and the user is told so
  int port = 2222;                           // of the port tfjob-port
  Object pod_template;                       // the PodTemplateSpec, as a document
  friend bool operator==(const ReplicaSpec& a, const ReplicaSpec& b);
};

enum class CleanPodPolicy { kNone, kRunning, kAll };

struct RunPolicy {
  CleanPodPolicy clean_pod_policy = CleanPodPolicy::kNone;
  std::optional<int64_t> ttl_seconds_after_finished, active_deadline_seconds, backoff_limit;
  bool suspend = false;
  std::optional<std::string> managed_by;
  friend bool operator==(const RunPolicy&, const RunPolicy&) = default;
};

struct JobCondition {
  std::string type;
  bool status = true;
  std::string reason, message;
  Instant last_update, last_transition;
  friend bool operator==(const JobCondition&, const JobCondition&) = default;
};

struct ReplicaStatus {
  int active = 0, succeeded = 0, failed = 0;
  friend bool operator==(const ReplicaStatus&, const ReplicaStatus&) = default;
};

struct TFJobStatus {
  std::vector<JobCondition> conditions;
  std::map<std::string, ReplicaStatus> replica_statuses;  // by canonical type
  std::optional<Instant> start_time, completion_time;

  const JobCondition* Find(std::string_view type) const;
  bool Has(std::string_view type) const;  // present and True
  bool finished() const { return Has("Succeeded") || Has("Failed"); }
  friend bool operator==(const TFJobStatus&, const TFJobStatus&) = default;
};

struct TFJob {
  ObjectMeta meta;
  // By canonical type ("WORKER" and "worker" are Worker); a key outside the five keeps its spelling.
  std::map<std::string, ReplicaSpec> replica_specs;
  RunPolicy run_policy;
  std::string success_policy;
  bool enable_dynamic_worker = false;
  TFJobStatus status;

  ObjectKey key() const { return {"TFJob", meta.ns, meta.name}; }
  bool has_chief() const { return replica_specs.contains("Chief") || replica_specs.contains("Master"); }
};

TFJob DecodeTFJob(const Object& object);
Json EncodeTFJobStatus(const TFJobStatus& status);

// The spelling of `type` among kReplicaTypes, or `type` itself.
std::string CanonicalReplicaType(std::string_view type);

void SetTFJobDefaults(Json& job);
std::vector<FieldMessage> ValidateTFJob(const Json& job, const Json* previous);

// The labels a replica's pod and service share, and select each other by.
Labels ReplicaLabels(const TFJob& job, const std::string& type, int index);
std::string ReplicaName(const TFJob& job, const std::string& type, int index);
// nullopt for a job of one replica; the exact bytes the operator writes (tfjob-controller.md 2.1 to 2.3).
std::optional<std::string> TFConfig(const TFJob& job, const std::string& type, int index);

// What the operator creates for one replica, before the API server's defaults. The type must be in the job.
Json MakeReplicaPod(const TFJob& job, const std::string& type, int index);
Json MakeReplicaService(const TFJob& job, const std::string& type, int index);

}  // namespace tfemu::api
