#include "emulator/api/lifecycle.h"
#include "emulator/api/batch_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/pod.h"
#include "emulator/api/tfjob.h"
#include "emulator/api/volume.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr const char* kForegroundDeletion = "foregroundDeletion";
constexpr const char* kServerMeta[] = {"uid",
                                       "resourceVersion",
                                       "generation",
                                       "creationTimestamp",
                                       "deletionTimestamp",
                                       "deletionGracePeriodSeconds",
                                       "selfLink"};

// v1 QoS classes: Guaranteed needs cpu and memory limits equal to the requests on every container.
std::string QosClass(const Json& spec) {
  bool any = false, guaranteed = true;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : Items(spec, list)) {
      const Resources limits = DecodeResources(Member(Member(container, "resources"), "limits"));
      const Resources requests = DecodeResources(Member(Member(container, "resources"), "requests"));
      for (const char* name : {"cpu", "memory"}) {
        any = any || limits.contains(name) || requests.contains(name);
        guaranteed = guaranteed && limits.contains(name) && requests.contains(name) &&
                     limits.at(name) == requests.at(name);
      }
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

std::vector<std::string> Finalizers(const Object& object) {
  return Texts(Member(object.doc(), "metadata"), "finalizers");
}

bool Contains(const std::vector<std::string>& finalizers, const char* finalizer) {
  return std::ranges::find(finalizers, finalizer) != finalizers.end();
}

void AddFinalizer(Json& doc, const char* finalizer) {
  if (!Contains(Texts(doc["metadata"], "finalizers"), finalizer))
    doc["metadata"]["finalizers"].push_back(finalizer);
}

}  // namespace

TypeMeta DecodeType(const Json& doc) { return {Text(doc, "apiVersion"), Text(doc, "kind")}; }

void CompleteName(Json& doc, const Kind& kind, const std::string& default_ns, const std::string& suffix) {
  if (!doc.contains("metadata") || !doc["metadata"].is_object()) doc["metadata"] = Json::object();
  Json& meta = doc["metadata"];
  if (kind.namespaced) SetDefault(meta, "namespace", default_ns);
  if (Text(meta, "name").empty() && !Text(meta, "generateName").empty())
    meta["name"] = Text(meta, "generateName") + suffix;
}

void StampNew(Json& doc, const std::string& uid, Instant now, bool keep_status) {
  Json& meta = doc["metadata"];
  for (const char* member : kServerMeta) meta.erase(member);
  meta["uid"] = uid;
  meta["creationTimestamp"] = FormatTime(now);
  if (!PodSpecs(doc).empty()) meta["generation"] = 1;  // kinds whose spec somebody acts on again and again
  if (!keep_status) doc.erase("status");
}

void StampUpdate(Json& doc, const Object& live) {
  Json& meta = doc["metadata"];
  const Json& live_meta = Member(live.doc(), "metadata");
  for (const char* member : kServerMeta) {
    meta.erase(member);
    if (live_meta.contains(member)) meta[member] = live_meta[member];
  }
  for (const char* member : {"ownerReferences", "finalizers"})
    if (live_meta.contains(member)) SetDefault(meta, member, live_meta[member]);
  doc.erase("status");
  if (live.doc().contains("status")) doc["status"] = live.doc()["status"];
  RaiseGeneration(doc, live);
}

void RaiseGeneration(Json& doc, const Object& live) {
  const auto generation = Int(Member(live.doc(), "metadata"), "generation");
  if (!generation) return;
  Json before = Member(live.doc(), "spec"), after = Member(doc, "spec");
  if (live.key().kind == "Pod")  // a binding is no change of what was asked for
    for (Json* spec : {&before, &after}) spec->erase("nodeName");
  if (before != after) doc["metadata"]["generation"] = *generation + 1;
}

Json TerminatingPatch(const Object& live, Instant now, int64_t grace_period_seconds) {
  const Json& meta = Member(live.doc(), "metadata");
  const Instant due = now + std::chrono::seconds(grace_period_seconds);
  Json patch = Json::object(
      {{"deletionTimestamp", FormatTime(due)}, {"deletionGracePeriodSeconds", grace_period_seconds}});
  if (const auto grace = Int(meta, "deletionGracePeriodSeconds"); grace && *grace <= grace_period_seconds)
    return Json::object();
  return patch;
}

bool HasFinalizers(const Object& object) {
  return !Items(Member(object.doc(), "metadata"), "finalizers").empty();
}

void AwaitDependents(Json& patch, const Object& live) {
  auto finalizers = Finalizers(live);
  if (!Contains(finalizers, kForegroundDeletion)) finalizers.push_back(kForegroundDeletion);
  patch["finalizers"] = finalizers;
}

bool AwaitsDependents(const Object& object) {
  return object.terminating() && Contains(Finalizers(object), kForegroundDeletion);
}

Json DependentsGonePatch(const Object& object) {
  return WithoutFinalizerPatch(Finalizers(object), kForegroundDeletion);
}

bool EndsGracefully(const Object& object) {
  const std::string phase = Text(Member(object.doc(), "status"), "phase");
  return object.key().kind == "Pod" && !Text(Member(object.doc(), "spec"), "nodeName").empty() &&
         phase != "Succeeded" && phase != "Failed";
}

int64_t GracePeriod(const Object& object, const std::optional<int64_t>& asked) {
  if (object.key().kind != "Pod") return 0;
  return asked.value_or(Int(Member(object.doc(), "spec"), "terminationGracePeriodSeconds").value_or(30));
}

Json LastApplied(const Object& live) {
  const std::string text = Text(Member(Member(live.doc(), "metadata"), "annotations"), kLastApplied);
  Json applied = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return applied.is_object() ? applied : Json(nullptr);
}

void SetLastApplied(Json& doc, const Json& applied) {
  Json& meta = doc["metadata"];
  SetDefault(meta, "annotations", Json::object());
  Json own = applied;  // of an exported object, without the copy in it
  if (Member(Member(own, "metadata"), "annotations").is_object())
    own["metadata"]["annotations"].erase(kLastApplied);
  meta["annotations"][kLastApplied] = own.dump() + "\n";
}

std::vector<PodSpecPlace> PodSpecs(const Json& doc) {
  const Json& spec = Member(doc, "spec");
  std::vector<PodSpecPlace> places;
  if (Text(doc, "kind") == "Pod" && spec.is_object())
    places.push_back({"spec", &spec, "metadata", &Member(doc, "metadata")});
  const auto add = [&](const std::string& path, const Json& pod_template) {
    if (const Json& inner = Member(pod_template, "spec"); inner.is_object())
      places.push_back({path + ".spec", &inner, path + ".metadata", &Member(pod_template, "metadata")});
  };
  add("spec.template", Member(spec, "template"));
  add("spec.jobTemplate.spec.template", Member(Member(Member(spec, "jobTemplate"), "spec"), "template"));
  if (const Json& types = Member(spec, "tfReplicaSpecs"); types.is_object())
    for (const auto& [type, replica] : types.items())
      add("spec.tfReplicaSpecs." + type + ".template", Member(replica, "template"));
  return places;
}

std::vector<ImageUse> ImagesUsed(const Json& doc) {
  std::vector<ImageUse> uses;
  for (const PodSpecPlace& place : PodSpecs(doc))
    for (const char* list : {"initContainers", "containers"})
      for (size_t i = 0; const Json& container : Items(*place.spec, list))
        uses.push_back(
            {place.path + "." + list + "[" + std::to_string(i++) + "].image", Text(container, "image")});
  return uses;
}

Result<Json> ScalePatch(const Object& object, const std::string& replica_type, int replicas) {
  const Json count = Json::object({{"replicas", replicas}});
  const std::string& kind = object.key().kind;
  if (kind == "Deployment" || kind == "ReplicaSet" || kind == "StatefulSet")
    return Json::object({{"spec", count}});
  if (kind != "TFJob")
    return Error{Reason::kBadRequest, kind + " cannot be scaled",
                 "Deployment, ReplicaSet, StatefulSet and TFJob can"};
  const Json& types = Member(Member(object.doc(), "spec"), "tfReplicaSpecs");
  std::string known;
  if (types.is_object()) {
    for (const auto& [type, spec] : types.items()) {
      if (CanonicalReplicaType(type) == CanonicalReplicaType(replica_type))
        return Json::object({{"spec", Json::object({{"tfReplicaSpecs", Json::object({{type, count}})}})}});
      known += (known.empty() ? "" : ", ") + type;
    }
  }
  return Error{Reason::kNotFound, ToString(object.key()) + " has no replica type \"" + replica_type + "\"",
               "it has " + known};
}

void AdmitNew(Json& doc, const std::string& suffix) {
  const std::string kind = Text(doc, "kind");
  if (kind == "Pod") {
    AdmitPod(doc, suffix);
    doc["status"] = Json::object({{"phase", "Pending"}, {"qosClass", QosClass(doc["spec"])}});
  } else if (kind == "Job") {
    AdmitBatchJob(doc);
  } else if (kind == "PersistentVolume") {
    AddFinalizer(doc, kVolumeProtection);
  } else if (kind == "PersistentVolumeClaim") {
    AddFinalizer(doc, kClaimProtection);
  }
}

}  // namespace tfemu::api
