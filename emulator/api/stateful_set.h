// apps/v1 StatefulSet, and the ControllerRevisions that hold its templates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/meta.h"

namespace tfemu::api {

struct StatefulSetStatus {
  int64_t observed_generation = 0;
  int replicas = 0, ready = 0, current = 0, updated = 0;
  std::string current_revision, update_revision;  // names of ControllerRevisions
  friend bool operator==(const StatefulSetStatus&, const StatefulSetStatus&) = default;
};

struct StatefulSet {
  ObjectMeta meta = {};
  int replicas = 1, start = 0;  // ordinals start, start + 1, …
  int partition = 0;            // pods below it keep the current revision
  bool parallel = false, on_delete = false;
  bool drop_claims_when_scaled = false, drop_claims_when_deleted = false;
  int history_limit = 10;
  std::string service_name = {};
  Object pod_template;
  std::vector<Object> claim_templates = {};
  StatefulSetStatus status = {};
};

struct ControllerRevision {
  ObjectMeta meta;
  int64_t revision = 0;
  Object pod_template;
};

StatefulSet DecodeStatefulSet(const Object& object);
Json EncodeStatefulSetStatus(const StatefulSetStatus& status);
void SetStatefulSetDefaults(Json& set);
std::vector<FieldMessage> ValidateStatefulSet(const Json& set, const Json* previous);

ControllerRevision DecodeControllerRevision(const Object& object);
std::string RevisionName(const StatefulSet& set);  // of its template as it is now
Json MakeControllerRevision(const StatefulSet& set, int64_t revision);

// "web-3" of the set "web".
std::optional<int> OrdinalOf(const StatefulSet& set, const std::string& pod);
const std::string& RevisionOf(const ObjectMeta& pod);  // "" when it has none
Json MakeStatefulSetPod(const StatefulSet& set, int ordinal, const ControllerRevision& revision);
std::vector<Json> MakeClaims(const StatefulSet& set, int ordinal);

}  // namespace tfemu::api
