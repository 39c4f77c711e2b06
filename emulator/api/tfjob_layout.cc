// The layouts that TFJob had before kubeflow.org/v1 with a runPolicy (tfjob-controller.md 1.4), made into
// that.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/layout.h"
#include "emulator/api/tfjob.h"

namespace tfemu::api {
namespace {

constexpr char kServed[] = "kubeflow.org/v1";
constexpr const char* kRunPolicyFields[] = {"activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy",
                                            "ttlSecondsAfterFinished"};
constexpr int kDefaultPort = 2222;

// spec.`name` is taken as spec.runPolicy.`as`, unless that is there.
void IntoRunPolicy(Json& spec, const char* name, const char* as, LayoutChange& change) {
  if (!spec.contains(name)) return;
  const std::string from = "spec." + std::string(name), to = "spec.runPolicy." + std::string(as);
  Json value = std::move(spec[name]);
  spec.erase(name);
  if (value.is_null()) return;
  Json& policy = spec["runPolicy"];
  if (!policy.is_null() && !policy.is_object()) return;  // the next to look refuses it
  if (!Member(policy, as).is_null()) {
    change.warnings.push_back({from, "is dropped: " + to + " is there, too, and counts"});
    return;
  }
  policy[as] = std::move(value);
  change.moved.emplace_back(to, from);
  change.warnings.push_back({from, "is an older place for this field: taken as " + to});
}

void FlatToRunPolicy(Json& spec, LayoutChange& change) {
  for (const char* name : kRunPolicyFields) IntoRunPolicy(spec, name, name, change);
}

// tfPort as the port tfjob-port of the container tensorflow, which may have one already.
void GivePort(Json& replica, int64_t port) {
  if (!Member(Member(Member(replica, "template"), "spec"), "containers").is_array()) return;
  for (Json& container : replica["template"]["spec"]["containers"]) {
    if (Text(container, "name") != "tensorflow") continue;
    for (const Json& other : Items(container, "ports"))
      if (Text(other, "name") == "tfjob-port") return;
    container["ports"].push_back(Json::object({{"containerPort", port}, {"name", "tfjob-port"}}));
    return;
  }
}

// An item of spec.replicaSpecs as a value of spec.tfReplicaSpecs.
Json MapForm(const Json& item, const std::string& scheduler) {
  Json replica = item;
  replica.erase("tfReplicaType");
  replica.erase("tfPort");
  if (const auto port = Int(item, "tfPort"); port && *port != kDefaultPort) GivePort(replica, *port);
  if (!Member(Member(replica, "template"), "spec").is_object()) return replica;
  Json& pod = replica["template"]["spec"];
  // Today's operator takes the policy of the replica over that of its template, where it stood then.
  if (const std::string policy = Text(pod, "restartPolicy"); !policy.empty()) {
    SetDefault(replica, "restartPolicy", policy);
    pod.erase("restartPolicy");
  }
  if (!scheduler.empty()) SetDefault(pod, "schedulerName", scheduler);
  return replica;
}

void ListToMap(Json& spec, LayoutChange& change) {
  const Json list = std::move(spec["replicaSpecs"]);
  spec.erase("replicaSpecs");
  const std::string scheduler = Text(spec, "schedulerName");
  spec.erase("schedulerName");
  Json& map = spec["tfReplicaSpecs"];
  if (!map.is_object()) map = Json::object();
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string from = "spec.replicaSpecs[" + std::to_string(i) + "]";
    if (!list[i].is_object()) {
      change.errors.push_back({from, "must be a mapping"});
      continue;
    }
    const std::string word = Text(list[i], "tfReplicaType");
    const std::string type = CanonicalReplicaType(word.empty() ? "MASTER" : word);
    if (map.contains(type)) {
      change.errors.push_back({from + ".tfReplicaType", "Duplicate value: \"" + word + "\""});
      continue;
    }
    map[type] = MapForm(list[i], scheduler);
    change.moved.emplace_back("spec.tfReplicaSpecs." + type, from);
    change.warnings.push_back({from, "is an older layout: taken as spec.tfReplicaSpecs." + type});
  }
}

// Which replica ended the job: today its chief or master, else worker 0.
void DropTerminationPolicy(Json& spec, LayoutChange& change) {
  if (!spec.contains("terminationPolicy")) return;
  const Json chief = Member(spec["terminationPolicy"], "chief");
  spec.erase("terminationPolicy");
  const Json& types = Member(spec, "tfReplicaSpecs");
  const std::string decides = types.contains("Master") || types.contains("Chief") ? "Master" : "Worker";
  const std::string word = Text(chief, "replicaName");
  const bool same =
      (word.empty() || CanonicalReplicaType(word) == decides) && Int(chief, "replicaIndex").value_or(0) == 0;
  change.warnings.push_back({"spec.terminationPolicy", (same ? "is dropped: " : "is not honoured: ") +
                                                           decides + " 0 decides when the job has ended"});
}

void ListLayout(Json& spec, LayoutChange& change) {
  IntoRunPolicy(spec, "cleanupPodPolicy", "cleanPodPolicy", change);
  if (Member(spec, "replicaSpecs").is_array()) ListToMap(spec, change);
  DropTerminationPolicy(spec, change);
  if (spec.erase("runtimeId") > 0)
    change.warnings.push_back({"spec.runtimeId", "is dropped: pods are named after their job"});
}

}  // namespace

std::string PathAsWritten(const LayoutChange& change, const std::string& path) {
  for (const auto& [now, written] : change.moved)
    if (path.starts_with(now) && (path.size() == now.size() || path[now.size()] == '.'))
      return written + path.substr(now.size());
  return path;
}

LayoutChange ModernizeTFJob(Json& job) {
  LayoutChange change;
  const std::string version = Text(job, "apiVersion");
  if (version != kServed) {
    change.warnings.push_back(
        {"apiVersion", version + " is an older layout of TFJob: converted to " + kServed});
    job["apiVersion"] = kServed;
    job.erase("status");  // of another layout, and not the user's to write
  }
  if (!Member(job, "spec").is_object()) return change;
  Json& spec = job["spec"];
  if (version.ends_with("/v1alpha1")) ListLayout(spec, change);
  FlatToRunPolicy(spec, change);
  return change;
}

}  // namespace tfemu::api
