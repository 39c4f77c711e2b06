#include "emulator/api/stateful_set.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/pod.h"
#include "emulator/api/pod_template.h"
#include "emulator/api/validation.h"
#include "emulator/api/workload.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr const char* kRevisionLabel = "controller-revision-hash";

int Count(const Json& object, const char* name, int otherwise = 0) {
  return static_cast<int>(Int(object, name).value_or(otherwise));
}

std::string PodName(const StatefulSet& set, int ordinal) {
  return set.meta.name + "-" + std::to_string(ordinal);
}

std::string ClaimName(const StatefulSet& set, const Json& claim, int ordinal) {
  return Text(Member(claim, "metadata"), "name") + "-" + PodName(set, ordinal);
}

OwnerReference Owner(const StatefulSet& set) {
  return ControllerReference("apps/v1", "StatefulSet", set.meta);
}

// The volumes of the claims take the place of volumes of the same name.
void MountClaims(const StatefulSet& set, int ordinal, Json& spec) {
  Json volumes = Json::array();
  for (const Object& claim : set.claim_templates)
    volumes.push_back(Json::object(
        {{"name", Text(Member(claim.doc(), "metadata"), "name")},
         {"persistentVolumeClaim", Json::object({{"claimName", ClaimName(set, claim.doc(), ordinal)}})}}));
  const size_t claims = volumes.size();
  for (const Json& volume : Items(spec, "volumes")) {
    bool taken = false;
    for (size_t i = 0; i < claims; ++i) taken = taken || volumes[i]["name"] == Text(volume, "name");
    if (!taken) volumes.push_back(volume);
  }
  if (!volumes.empty()) spec["volumes"] = std::move(volumes);
}

// As its pods will be: containers may mount the claims.
Json WithClaimVolumes(Json set) {
  if (!Member(Member(Member(set, "spec"), "template"), "spec").is_object()) return set;
  Json& pod = set["spec"]["template"]["spec"];
  for (const Json& claim : Items(Member(set, "spec"), "volumeClaimTemplates")) {
    const std::string name = Text(Member(claim, "metadata"), "name");
    if (std::ranges::none_of(Items(pod, "volumes"), [&](const Json& v) { return Text(v, "name") == name; }))
      pod["volumes"].push_back(
          Json::object({{"name", name}, {"persistentVolumeClaim", Json::object({{"claimName", name}})}}));
  }
  return set;
}

}  // namespace

StatefulSet DecodeStatefulSet(const Object& object) {
  const Json& spec = Member(object.doc(), "spec");
  const Json& strategy = Member(spec, "updateStrategy");
  const Json& retention = Member(spec, "persistentVolumeClaimRetentionPolicy");
  const Json& status = Member(object.doc(), "status");
  StatefulSet set{.meta = DecodeMeta(object), .pod_template = TemplateOf(spec)};
  set.replicas = Count(spec, "replicas", 1);
  set.start = Count(Member(spec, "ordinals"), "start");
  set.partition = Count(Member(strategy, "rollingUpdate"), "partition");
  set.parallel = Text(spec, "podManagementPolicy") == "Parallel";
  set.on_delete = Text(strategy, "type") == "OnDelete";
  set.drop_claims_when_scaled = Text(retention, "whenScaled") == "Delete";
  set.drop_claims_when_deleted = Text(retention, "whenDeleted") == "Delete";
  set.history_limit = Count(spec, "revisionHistoryLimit", 10);
  set.service_name = Text(spec, "serviceName");
  for (const Json& claim : Items(spec, "volumeClaimTemplates")) set.claim_templates.emplace_back(claim);
  set.status = {Int(status, "observedGeneration").value_or(0),
                Count(status, "replicas"),
                Count(status, "readyReplicas"),
                Count(status, "currentReplicas"),
                Count(status, "updatedReplicas"),
                Text(status, "currentRevision"),
                Text(status, "updateRevision")};
  return set;
}

Json EncodeStatefulSetStatus(const StatefulSetStatus& status) {
  const auto count = [](int n) { return n == 0 ? Json(nullptr) : Json(n); };
  return Json::object({{"observedGeneration", status.observed_generation},
                       {"replicas", status.replicas},
                       {"readyReplicas", count(status.ready)},
                       {"availableReplicas", status.ready},
                       {"currentReplicas", count(status.current)},
                       {"updatedReplicas", count(status.updated)},
                       {"currentRevision", status.current_revision},
                       {"updateRevision", status.update_revision},
                       {"collisionCount", 0}});
}

void SetStatefulSetDefaults(Json& set) {
  SetReplicaSetDefaults(set);
  Json& spec = set["spec"];
  SetDefault(spec, "podManagementPolicy", "OrderedReady");
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "updateStrategy", Json::object());
  SetDefault(spec["updateStrategy"], "type", "RollingUpdate");
  if (Text(spec["updateStrategy"], "type") == "RollingUpdate") {
    SetDefault(spec["updateStrategy"], "rollingUpdate", Json::object());
    SetDefault(spec["updateStrategy"]["rollingUpdate"], "partition", 0);
  }
  SetDefault(spec, "persistentVolumeClaimRetentionPolicy", Json::object());
  for (const char* when : {"whenDeleted", "whenScaled"})
    SetDefault(spec["persistentVolumeClaimRetentionPolicy"], when, "Retain");
}

std::vector<FieldMessage> ValidateStatefulSet(const Json& set, const Json* previous) {
  Messages messages = ValidateWorkload(WithClaimVolumes(set), previous);
  const Json& spec = Member(set, "spec");
  const Json& strategy = Member(spec, "updateStrategy");
  CheckOneOf(spec, "podManagementPolicy", "spec", {"OrderedReady", "Parallel"}, messages);
  CheckOneOf(strategy, "type", "spec.updateStrategy", {"OnDelete", "RollingUpdate"}, messages);
  CheckNotNegative(Member(strategy, "rollingUpdate"), "partition", "spec.updateStrategy.rollingUpdate",
                   messages);
  CheckNotNegative(Member(spec, "ordinals"), "start", "spec.ordinals", messages);
  for (const char* when : {"whenDeleted", "whenScaled"})
    CheckOneOf(Member(spec, "persistentVolumeClaimRetentionPolicy"), when,
               "spec.persistentVolumeClaimRetentionPolicy", {"Delete", "Retain"}, messages);
  if (previous == nullptr) return messages;
  const auto changed = [&](const char* name) {
    return Member(Member(*previous, "spec"), name) != Member(spec, name);
  };
  if (changed("serviceName") || changed("volumeClaimTemplates") || changed("podManagementPolicy"))
    messages.push_back(
        {"spec",
         "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
         "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
         "'minReadySeconds' are forbidden"});
  return messages;
}

ControllerRevision DecodeControllerRevision(const Object& object) {
  return {DecodeMeta(object), Int(object.doc(), "revision").value_or(0),
          TemplateOf(Member(Member(object.doc(), "data"), "spec"))};
}

std::string RevisionName(const StatefulSet& set) {
  return set.meta.name + "-" + PodTemplateHash(set.pod_template);
}

Json MakeControllerRevision(const StatefulSet& set, int64_t revision) {
  Json labels = Member(Member(set.pod_template.doc(), "metadata"), "labels");
  if (!labels.is_object()) labels = Json::object();
  labels[kRevisionLabel] = PodTemplateHash(set.pod_template);
  return Json::object(
      {{"apiVersion", "apps/v1"},
       {"kind", "ControllerRevision"},
       {"metadata", Json::object({{"name", RevisionName(set)},
                                  {"namespace", set.meta.ns},
                                  {"labels", std::move(labels)},
                                  {"ownerReferences", EncodeOwnerReferences({Owner(set)})}})},
       {"data", Json::object({{"spec", Json::object({{"template", set.pod_template.doc()}})}})},
       {"revision", revision}});
}

std::optional<int> OrdinalOf(const StatefulSet& set, const std::string& pod) {
  if (!pod.starts_with(set.meta.name + "-")) return std::nullopt;
  const auto ordinal = ParseInt(pod.substr(set.meta.name.size() + 1));
  return ordinal && *ordinal >= 0 ? std::optional(static_cast<int>(*ordinal)) : std::nullopt;
}

const std::string& RevisionOf(const ObjectMeta& pod) {
  static const std::string kNone;
  const auto label = pod.labels.find(kRevisionLabel);
  return label == pod.labels.end() ? kNone : label->second;
}

Json MakeStatefulSetPod(const StatefulSet& set, int ordinal, const ControllerRevision& revision) {
  Json pod = PodOfTemplate(revision.pod_template, set.meta.ns, Owner(set));
  const std::string name = PodName(set, ordinal);
  pod["metadata"]["name"] = name;
  Json& labels = pod["metadata"]["labels"];
  labels["statefulset.kubernetes.io/pod-name"] = name;
  labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
  labels[kRevisionLabel] = revision.meta.name;
  pod["spec"]["hostname"] = name;
  if (!set.service_name.empty()) pod["spec"]["subdomain"] = set.service_name;
  MountClaims(set, ordinal, pod["spec"]);
  return pod;
}

std::vector<Json> MakeClaims(const StatefulSet& set, int ordinal) {
  std::vector<Json> claims;
  for (const Object& made : set.claim_templates) {
    Json claim = made.doc();
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
    claim["metadata"]["name"] = ClaimName(set, made.doc(), ordinal);
    claim["metadata"]["namespace"] = set.meta.ns;
    const Json& labels = Member(Member(set.pod_template.doc(), "metadata"), "labels");
    if (labels.is_object())
      for (const auto& [key, value] : labels.items()) claim["metadata"]["labels"][key] = value;
    if (set.drop_claims_when_deleted)
      claim["metadata"]["ownerReferences"] = EncodeOwnerReferences({Owner(set)});
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace tfemu::api
