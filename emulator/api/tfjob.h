// kubeflow.org/v1 TFJob (training-operator v1.9.4; tfjob-controller.md sections 1 to 3).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/layout.h"
#include "emulator/api/meta.h"
#include "emulator/api/tfjob_settings.h"

namespace tfemu::api {

// Canonical replica types, in the order in which the operator visits them for status.
inline constexpr std::string_view kReplicaTypes[] = {"Chief", "Evaluator", "Master", "PS", "Worker"};

// The value of managedBy that names the operator itself.
inline constexpr char kTrainingOperator[] = "kubeflow.org/training-operator";

enum class ReplicaRestartPolicy { kAlways, kOnFailure, kNever, kExitCode };

struct ReplicaSpec {
  int replicas = 1;
  ReplicaRestartPolicy restart_policy = ReplicaRestartPolicy::kNever;
  std::string unknown_restart_policy = {};   // goes to the pods as it is, for the API server to refuse
  bool template_has_restart_policy = false;  // it is overwritten, and the user is told so
  int port = 2222;                           // of the port tfjob-port
  Object pod_template;                       // the PodTemplateSpec, as a document
  friend bool operator==(const ReplicaSpec& a, const ReplicaSpec& b);
};

struct RunPolicy {
  std::optional<CleanPodPolicy> clean_pod_policy;  // unset: the settings say
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

// Older versions that ModernizeTFJob makes into kubeflow.org/v1. The fields of spec.runPolicy that stand in
// spec itself move, whatever the version.
inline constexpr std::string_view kOlderTFJobVersions[] = {"kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2",
                                                           "kubeflow.org/v1beta1", "kubeflow.org/v1beta2",
                                                           "tensorflow.org/v1alpha1"};
LayoutChange ModernizeTFJob(Json& job);
void SetTFJobDefaults(Json& job);
std::vector<FieldMessage> ValidateTFJob(const Json& job, const Json* previous);
// What the operator's admission webhook refuses, in its words.
std::optional<Error> AdmitTFJob(const Json& job, const Json* previous);

// The labels a replica's pod and service share, and select each other by.
Labels ReplicaLabels(const TFJob& job, const std::string& type, int index);
// What those labels say; nullopt without them, or when the index is no number.
std::optional<std::string> ReplicaTypeOf(const Labels& labels);  // in lower case
std::optional<int> ReplicaIndexOf(const Labels& labels);
std::string ReplicaName(const TFJob& job, const std::string& type, int index);
// nullopt for a job of one replica, unless the settings want it; the exact bytes the operator writes
// (tfjob-controller.md 2.1 to 2.3).
std::optional<std::string> TFConfig(const TFJob& job, const std::string& type, int index,
                                    const TFJobSettings& settings = {});

// What the operator creates for one replica, before the API server's defaults. The type must be in the job.
Json MakeReplicaPod(const TFJob& job, const std::string& type, int index, const TFJobSettings& settings = {});
Json MakeReplicaService(const TFJob& job, const std::string& type, int index);

}  // namespace tfemu::api
