#include "emulator/api/workload.h"

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/pod.h"
#include "emulator/api/pod_template.h"
#include "emulator/api/validation.h"
#include "emulator/base/rng.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

constexpr const char* kHashLabel = "pod-template-hash";
constexpr const char* kRevision = "deployment.kubernetes.io/revision";

}  // namespace

Object TemplateOf(const Json& spec) {
  const Json& member = Member(spec, "template");
  return Object(member.is_object() ? member : Json::object());
}

IntOrPercent DecodeIntOrPercent(const Json& value) {
  if (value.is_number_integer()) return {value.get<int>(), false};
  if (!value.is_string()) return {};
  const std::string text = value.get<std::string>();
  const bool percent = !text.empty() && text.back() == '%';
  return {static_cast<int>(ParseInt(percent ? text.substr(0, text.size() - 1) : text).value_or(25)), percent};
}

Json PodOfTemplate(const Object& pod_template, const std::string& ns, const OwnerReference& owner) {
  const Json& from = Member(pod_template.doc(), "metadata");
  Json meta = from.is_object() ? from : Json::object();
  meta["namespace"] = ns;
  meta["ownerReferences"] = EncodeOwnerReferences({owner});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", std::move(meta)},
                       {"spec", Member(pod_template.doc(), "spec")}});
}

std::vector<FieldMessage> ValidateWorkload(const Json& doc, const Json* previous) {
  Messages messages;
  CheckMeta(doc, messages);
  const Json& spec = Member(doc, "spec");
  CheckNotNegative(spec, "replicas", "spec", messages);
  const Json& pod_template = Member(spec, "template");
  const Selector selector = DecodeSelector(Member(spec, "selector"));
  if (selector.empty()) messages.push_back({"spec.selector", "Required value"});
  else if (!selector.Matches(DecodeLabelMap(Member(Member(pod_template, "metadata"), "labels"))))
    messages.push_back(
        {"spec.template.metadata.labels", "Invalid value: `selector` does not match template `labels`"});
  if (!Member(pod_template, "spec").is_object()) {
    messages.push_back({"spec.template.spec", "Required value"});
    return messages;
  }
  const Messages pods = ValidatePodSpec(pod_template["spec"], "spec.template.spec");
  messages.insert(messages.end(), pods.begin(), pods.end());
  if (const std::string policy = Text(pod_template["spec"], "restartPolicy");
      policy == "OnFailure" || policy == "Never")
    messages.push_back({"spec.template.spec.restartPolicy",
                        "Unsupported value: \"" + policy + "\": supported values: \"Always\""});
  if (previous != nullptr && Member(Member(*previous, "spec"), "selector") != Member(spec, "selector"))
    messages.push_back({"spec.selector", "Invalid value: field is immutable"});
  return messages;
}

namespace {

Labels TemplateLabels(const Object& pod_template) {
  return DecodeLabelMap(Member(Member(pod_template.doc(), "metadata"), "labels"));
}

}  // namespace

int IntOrPercent::Of(int replicas, bool round_up) const {
  return percent ? (replicas * value + (round_up ? 99 : 0)) / 100 : value;
}

ReplicaSet DecodeReplicaSet(const Object& object) {
  const Json& spec = Member(object.doc(), "spec");
  const Json& status = Member(object.doc(), "status");
  const auto count = [&](const char* name) { return static_cast<int>(Int(status, name).value_or(0)); };
  return {DecodeMeta(object),
          static_cast<int>(Int(spec, "replicas").value_or(1)),
          DecodeSelector(Member(spec, "selector")),
          TemplateOf(spec),
          Int(status, "observedGeneration").value_or(0),
          count("replicas"),
          count("readyReplicas"),
          count("availableReplicas")};
}

Deployment DecodeDeployment(const Object& object) {
  const Json& spec = Member(object.doc(), "spec");
  const Json& rolling = Member(Member(spec, "strategy"), "rollingUpdate");
  const Json& status = Member(object.doc(), "status");
  const auto count = [&](const char* name) { return static_cast<int>(Int(status, name).value_or(0)); };
  const auto time = [](const Json& o, const char* name) {
    return ParseTime(Text(o, name)).value_or(Instant{});
  };
  DeploymentStatus decoded{Int(status, "observedGeneration").value_or(0),
                           count("replicas"),
                           count("updatedReplicas"),
                           count("readyReplicas"),
                           count("availableReplicas"),
                           {}};
  for (const Json& c : Items(status, "conditions"))
    decoded.conditions.push_back({Text(c, "type"), Text(c, "status") == "True", Text(c, "reason"),
                                  Text(c, "message"), time(c, "lastUpdateTime"),
                                  time(c, "lastTransitionTime")});
  return {DecodeMeta(object),
          static_cast<int>(Int(spec, "replicas").value_or(1)),
          static_cast<int>(Int(spec, "revisionHistoryLimit").value_or(10)),
          Text(Member(spec, "strategy"), "type") == "Recreate",
          DecodeIntOrPercent(Member(rolling, "maxSurge")),
          DecodeIntOrPercent(Member(rolling, "maxUnavailable")),
          DecodeSelector(Member(spec, "selector")),
          TemplateOf(spec),
          std::move(decoded)};
}

Json EncodeDeploymentStatus(const DeploymentStatus& status) {
  const auto count = [](int n) { return n == 0 ? Json(nullptr) : Json(n); };
  Json conditions = Json::array();
  for (const auto& c : status.conditions)
    conditions.push_back(Json::object({{"type", c.type},
                                       {"status", c.status ? "True" : "False"},
                                       {"reason", c.reason},
                                       {"message", c.message},
                                       {"lastUpdateTime", FormatTime(c.last_update)},
                                       {"lastTransitionTime", FormatTime(c.last_transition)}}));
  const int unavailable = status.replicas - status.available_replicas;
  return Json::object({{"observedGeneration", status.observed_generation},
                       {"replicas", count(status.replicas)},
                       {"updatedReplicas", count(status.updated_replicas)},
                       {"readyReplicas", count(status.ready_replicas)},
                       {"availableReplicas", count(status.available_replicas)},
                       {"unavailableReplicas", count(unavailable > 0 ? unavailable : 0)},
                       {"conditions", std::move(conditions)}});
}

Json EncodeReplicaSetStatus(const ReplicaSet& set) {
  const auto count = [](int n) { return n == 0 ? Json(nullptr) : Json(n); };
  return Json::object({{"observedGeneration", set.observed_generation},
                       {"replicas", set.status_replicas},
                       {"fullyLabeledReplicas", count(set.status_replicas)},
                       {"readyReplicas", count(set.ready_replicas)},
                       {"availableReplicas", count(set.available_replicas)}});
}

void SetReplicaSetDefaults(Json& set) {
  SetDefault(set["spec"], "replicas", 1);
  if (Member(set["spec"], "template").is_object()) SetPodTemplateDefaults(set["spec"]["template"]);
}

void SetDeploymentDefaults(Json& deployment) {
  Json& spec = deployment["spec"];
  SetReplicaSetDefaults(deployment);
  SetDefault(spec, "progressDeadlineSeconds", 600);
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "strategy", Json::object());
  SetDefault(spec["strategy"], "type", "RollingUpdate");
  if (Text(spec["strategy"], "type") != "RollingUpdate") return;
  SetDefault(spec["strategy"], "rollingUpdate", Json::object());
  SetDefault(spec["strategy"]["rollingUpdate"], "maxSurge", "25%");
  SetDefault(spec["strategy"]["rollingUpdate"], "maxUnavailable", "25%");
}

std::vector<FieldMessage> ValidateDeployment(const Json& deployment, const Json* previous) {
  Messages messages = ValidateWorkload(deployment, previous);
  CheckOneOf(Member(Member(deployment, "spec"), "strategy"), "type", "spec.strategy",
             {"Recreate", "RollingUpdate"}, messages);
  return messages;
}

std::vector<FieldMessage> ValidateReplicaSet(const Json& set, const Json* previous) {
  return ValidateWorkload(set, previous);
}

std::string PodTemplateHash(const Object& pod_template) {
  const uint64_t hash = Fnv1a(pod_template.doc().dump()) & 0xffffffffu;
  std::string safe;
  static constexpr std::string_view kAlphabet =
      "bcdfghjklmnpqrstvwxz2456789";  // apimachinery SafeEncodeString
  for (const char digit : std::to_string(hash))
    safe += kAlphabet[static_cast<unsigned char>(digit) % kAlphabet.size()];
  return safe;
}

Json MakeReplicaSet(const Deployment& deployment, int replicas, int64_t revision) {
  const std::string hash = PodTemplateHash(deployment.pod_template);
  Json labels = TemplateLabels(deployment.pod_template);
  labels[kHashLabel] = hash;
  Json pod_template = deployment.pod_template.doc();
  pod_template["metadata"]["labels"] = labels;
  Json match_labels = Json::object();
  for (const Requirement& r : deployment.selector.requirements)
    if (r.op == Requirement::Operator::kIn && r.values.size() == 1) match_labels[r.key] = r.values[0];
  match_labels[kHashLabel] = hash;
  const OwnerReference owner = ControllerReference("apps/v1", "Deployment", deployment.meta);
  const Json annotations = Json::object(
      {{"deployment.kubernetes.io/desired-replicas", std::to_string(deployment.replicas)},
       {"deployment.kubernetes.io/max-replicas",
        std::to_string(deployment.replicas + deployment.max_surge.Of(deployment.replicas, true))},
       {kRevision, std::to_string(revision)}});
  return Json::object({{"apiVersion", "apps/v1"},
                       {"kind", "ReplicaSet"},
                       {"metadata", Json::object({{"name", deployment.meta.name + "-" + hash},
                                                  {"namespace", deployment.meta.ns},
                                                  {"labels", labels},
                                                  {"annotations", annotations},
                                                  {"ownerReferences", EncodeOwnerReferences({owner})}})},
                       {"spec", Json::object({{"replicas", replicas},
                                              {"selector", Json::object({{"matchLabels", match_labels}})},
                                              {"template", std::move(pod_template)}})}});
}

Json MakeReplicaSetPod(const ReplicaSet& set) {
  Json pod =
      PodOfTemplate(set.pod_template, set.meta.ns, ControllerReference("apps/v1", "ReplicaSet", set.meta));
  pod["metadata"]["generateName"] = set.meta.name + "-";
  return pod;
}

Json ReplicasPatch(int replicas) { return Json::object({{"spec", Json::object({{"replicas", replicas}})}}); }

Json RevisionPatch(int64_t revision, int replicas) {
  const Json annotations = Json::object({{kRevision, std::to_string(revision)}});
  Json patch = Json::object({{"metadata", Json::object({{"annotations", annotations}})}});
  if (replicas >= 0) patch["spec"] = Json::object({{"replicas", replicas}});
  return patch;
}

int64_t Revision(const ObjectMeta& meta) {
  const auto it = meta.annotations.find(kRevision);
  return it == meta.annotations.end() ? 0 : ParseInt(it->second).value_or(0);
}

}  // namespace tfemu::api
