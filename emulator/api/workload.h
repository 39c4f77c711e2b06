// apps/v1 Deployment and ReplicaSet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/meta.h"

namespace tfemu::api {

// A number of pods, or a share of the replicas in percent.
struct IntOrPercent {
  int value = 25;
  bool percent = true;
  int Of(int replicas, bool round_up) const;
  friend bool operator==(const IntOrPercent&, const IntOrPercent&) = default;
};

struct ReplicaSet {
  ObjectMeta meta;
  int replicas = 1;
  Selector selector;
  Object pod_template;
  int64_t observed_generation = 0;
  int status_replicas = 0, ready_replicas = 0, available_replicas = 0;
};

struct WorkloadCondition {
  std::string type;
  bool status = false;
  std::string reason, message;
  Instant last_update, last_transition;
  friend bool operator==(const WorkloadCondition&, const WorkloadCondition&) = default;
};

struct DeploymentStatus {
  int64_t observed_generation = 0;
  int replicas = 0, updated_replicas = 0, ready_replicas = 0, available_replicas = 0;
  std::vector<WorkloadCondition> conditions;
  friend bool operator==(const DeploymentStatus&, const DeploymentStatus&) = default;
};

struct Deployment {
  ObjectMeta meta;
  int replicas = 1;
  int revision_history_limit = 10;
  bool recreate = false;
  IntOrPercent max_surge, max_unavailable;
  Selector selector;
  Object pod_template;
  DeploymentStatus status;
};

ReplicaSet DecodeReplicaSet(const Object& object);
Deployment DecodeDeployment(const Object& object);
Json EncodeDeploymentStatus(const DeploymentStatus& status);
Json EncodeReplicaSetStatus(const ReplicaSet& set);

void SetDeploymentDefaults(Json& deployment);
void SetReplicaSetDefaults(Json& set);
std::vector<FieldMessage> ValidateDeployment(const Json& deployment, const Json* previous);
std::vector<FieldMessage> ValidateReplicaSet(const Json& set, const Json* previous);

// The label value that tells one template from another: ten characters of Kubernetes' safe alphabet. The hash
// function is our own (Kubernetes hashes Go's in-memory form), so values differ from a cluster's.
std::string PodTemplateHash(const Object& pod_template);

Json MakeReplicaSet(const Deployment& deployment, int replicas, int64_t revision);
Json MakeReplicaSetPod(const ReplicaSet& set);  // with a generateName: whoever stores it names it
Json ReplicasPatch(int replicas);               // of the document
Json RevisionPatch(int64_t revision, int replicas);
int64_t Revision(const ObjectMeta& meta);  // 0 when there is none

}  // namespace tfemu::api
