#include "emulator/api/daemon_set.h"

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/pod_template.h"
#include "emulator/api/validation.h"

namespace tfemu::api {
namespace {

constexpr const char* kHostName = "kubernetes.io/hostname";

// What the controller adds: a daemon stays where others would leave.
constexpr std::pair<const char*, const char*> kTolerated[] = {
    {"node.kubernetes.io/not-ready", "NoExecute"},      {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"}, {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},  {"node.kubernetes.io/unschedulable", "NoSchedule"}};

bool IsSome(const Json& count) { return !count.is_null() && DecodeIntOrPercent(count).value != 0; }

}  // namespace

DaemonSet DecodeDaemonSet(const Object& object) {
  const Json& spec = Member(object.doc(), "spec");
  const Json& strategy = Member(spec, "updateStrategy");
  const Json& status = Member(object.doc(), "status");
  const auto count = [&](const char* name) { return static_cast<int>(Int(status, name).value_or(0)); };
  DaemonSet set{.meta = DecodeMeta(object), .pod_template = TemplateOf(spec)};
  set.on_delete = Text(strategy, "type") == "OnDelete";
  for (const char* name : {"maxSurge", "maxUnavailable"})
    if (const Json& most = Member(Member(strategy, "rollingUpdate"), name); IsSome(most))
      set.max_unavailable = DecodeIntOrPercent(most);
  const PodSpec pod = DecodePod(set.pod_template).spec;
  set.node_selector = pod.node_selector;
  set.tolerations = pod.tolerations;
  for (const auto& [key, effect] : kTolerated) set.tolerations.push_back({key, "Exists", "", effect});
  set.status = {Int(status, "observedGeneration").value_or(0),
                count("desiredNumberScheduled"),
                count("currentNumberScheduled"),
                count("numberMisscheduled"),
                count("numberReady"),
                count("updatedNumberScheduled")};
  return set;
}

Json EncodeDaemonSetStatus(const DaemonSetStatus& status) {
  const auto count = [](int n) { return n == 0 ? Json(nullptr) : Json(n); };
  return Json::object({{"observedGeneration", status.observed_generation},
                       {"desiredNumberScheduled", status.desired},
                       {"currentNumberScheduled", status.current},
                       {"numberMisscheduled", status.misscheduled},
                       {"numberReady", status.ready},
                       {"numberAvailable", count(status.ready)},
                       {"numberUnavailable", count(status.desired - status.ready)},
                       {"updatedNumberScheduled", count(status.updated)}});
}

void SetDaemonSetDefaults(Json& set) {
  Json& spec = set["spec"];
  if (Member(spec, "template").is_object()) SetPodTemplateDefaults(spec["template"]);
  SetDefault(spec, "revisionHistoryLimit", 10);
  SetDefault(spec, "updateStrategy", Json::object());
  SetDefault(spec["updateStrategy"], "type", "RollingUpdate");
  if (Text(spec["updateStrategy"], "type") != "RollingUpdate") return;
  SetDefault(spec["updateStrategy"], "rollingUpdate", Json::object());
  SetDefault(spec["updateStrategy"]["rollingUpdate"], "maxSurge", 0);
  SetDefault(spec["updateStrategy"]["rollingUpdate"], "maxUnavailable", 1);
}

std::vector<FieldMessage> ValidateDaemonSet(const Json& set, const Json* previous) {
  Messages messages = ValidateWorkload(set, previous);
  CheckOneOf(Member(Member(set, "spec"), "updateStrategy"), "type", "spec.updateStrategy",
             {"OnDelete", "RollingUpdate"}, messages);
  const Json& roll = Member(Member(Member(set, "spec"), "updateStrategy"), "rollingUpdate");
  if (!roll.is_object()) return messages;
  const Json& surge = Member(roll, "maxSurge");
  const Json& missing = Member(roll, "maxUnavailable");
  const bool surges = IsSome(surge), unavailable = missing.is_null() || IsSome(missing);  // 1 by default
  if (surges && unavailable)
    messages.push_back(
        {"spec.updateStrategy.rollingUpdate.maxSurge",
         "Invalid value: " + surge.dump() + ": may not be set when maxUnavailable is non-zero"});
  if (!surges && !unavailable)
    messages.push_back({"spec.updateStrategy.rollingUpdate.maxUnavailable",
                        "Required value: cannot be 0 when maxSurge is 0"});
  return messages;
}

// The node is chosen by its label, which leaves the rest (is there room?) to the scheduler; a cluster chooses
// it by its name in a node affinity.
Json MakeDaemonSetPod(const DaemonSet& set, const std::string& node) {
  Json pod =
      PodOfTemplate(set.pod_template, set.meta.ns, ControllerReference("apps/v1", "DaemonSet", set.meta));
  pod["metadata"]["generateName"] = set.meta.name + "-";
  pod["metadata"]["labels"]["controller-revision-hash"] = PodTemplateHash(set.pod_template);
  pod["metadata"]["labels"]["pod-template-generation"] = std::to_string(set.meta.generation);
  Json& spec = pod["spec"];
  spec["nodeSelector"][kHostName] = node;
  for (const auto& [key, effect] : kTolerated)
    spec["tolerations"].push_back(Json::object({{"effect", effect}, {"key", key}, {"operator", "Exists"}}));
  return pod;
}

std::string NodeOfDaemon(const Pod& pod) {
  if (!pod.spec.node_name.empty()) return pod.spec.node_name;
  const auto label = pod.spec.node_selector.find(kHostName);
  return label == pod.spec.node_selector.end() ? "" : label->second;
}

}  // namespace tfemu::api
