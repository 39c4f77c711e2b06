#include "emulator/api/tfjob.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

ReplicaRestartPolicy DecodePolicy(const std::string& text) {
  if (text == "Always") return ReplicaRestartPolicy::kAlways;
  if (text == "OnFailure") return ReplicaRestartPolicy::kOnFailure;
  return text == "ExitCode" ? ReplicaRestartPolicy::kExitCode : ReplicaRestartPolicy::kNever;
}

// The port named tfjob-port in the container named tensorflow, else 2222.
int TFPort(const Json& pod_template) {
  for (const Json& container : Items(Member(pod_template, "spec"), "containers")) {
    if (Text(container, "name") != "tensorflow") continue;
    for (const Json& port : Items(container, "ports"))
      if (Text(port, "name") == "tfjob-port")
        return static_cast<int>(Int(port, "containerPort").value_or(2222));
  }
  return 2222;
}

bool IsPolicy(const std::string& text) {
  return text.empty() || text == "Always" || text == "OnFailure" || text == "Never" || text == "ExitCode";
}

ReplicaSpec DecodeReplicaSpec(const Json& spec) {
  const Json& pod_template = Member(spec, "template");
  const std::string policy = Text(spec, "restartPolicy");
  return {static_cast<int>(Int(spec, "replicas").value_or(1)),
          DecodePolicy(policy),
          IsPolicy(policy) ? "" : policy,
          !Text(Member(pod_template, "spec"), "restartPolicy").empty(),
          TFPort(pod_template),
          Object(pod_template.is_object() ? pod_template : Json::object())};
}

RunPolicy DecodeRunPolicy(const Json& policy) {
  RunPolicy decoded;
  const Json& clean = Member(policy, "cleanPodPolicy");
  if (clean.is_string())  // any word but None and Running acts like All
    decoded.clean_pod_policy = clean == "None"      ? CleanPodPolicy::kNone
                               : clean == "Running" ? CleanPodPolicy::kRunning
                                                    : CleanPodPolicy::kAll;
  decoded.ttl_seconds_after_finished = Int(policy, "ttlSecondsAfterFinished");
  decoded.active_deadline_seconds = Int(policy, "activeDeadlineSeconds");
  decoded.backoff_limit = Int(policy, "backoffLimit");
  decoded.suspend = Bool(policy, "suspend");
  if (Member(policy, "managedBy").is_string()) decoded.managed_by = Text(policy, "managedBy");
  return decoded;
}

TFJobStatus DecodeStatus(const Json& status) {
  TFJobStatus decoded;
  const auto time = [](const Json& o, const char* name) {
    return ParseTime(Text(o, name)).value_or(Instant{});
  };
  for (const Json& c : Items(status, "conditions"))
    decoded.conditions.push_back({Text(c, "type"), Text(c, "status") == "True", Text(c, "reason"),
                                  Text(c, "message"), time(c, "lastUpdateTime"),
                                  time(c, "lastTransitionTime")});
  if (const Json& types = Member(status, "replicaStatuses"); types.is_object())
    for (const auto& [type, counts] : types.items())
      decoded.replica_statuses[type] = {static_cast<int>(Int(counts, "active").value_or(0)),
                                        static_cast<int>(Int(counts, "succeeded").value_or(0)),
                                        static_cast<int>(Int(counts, "failed").value_or(0))};
  if (Member(status, "startTime").is_string()) decoded.start_time = time(status, "startTime");
  if (Member(status, "completionTime").is_string()) decoded.completion_time = time(status, "completionTime");
  return decoded;
}

}  // namespace

bool operator==(const ReplicaSpec& a, const ReplicaSpec& b) {
  return a.replicas == b.replicas && a.restart_policy == b.restart_policy &&
         a.pod_template.doc() == b.pod_template.doc();
}

const JobCondition* TFJobStatus::Find(std::string_view type) const {
  const auto it = std::ranges::find(conditions, type, &JobCondition::type);
  return it == conditions.end() ? nullptr : &*it;
}

bool TFJobStatus::Has(std::string_view type) const {
  const JobCondition* condition = Find(type);
  return condition != nullptr && condition->status;
}

std::string CanonicalReplicaType(std::string_view type) {
  for (const auto canonical : kReplicaTypes)
    if (ToLower(canonical) == ToLower(type)) return std::string(canonical);
  return std::string(type);
}

TFJob DecodeTFJob(const Object& object) {
  TFJob job;
  job.meta = DecodeMeta(object);
  const Json& spec = Member(object.doc(), "spec");
  if (const Json& types = Member(spec, "tfReplicaSpecs"); types.is_object()) {
    // Exact spellings first: a key that differs only in case then overwrites them, as the operator's
    // defaulting does.
    for (const bool exact : {true, false})
      for (const auto& [type, replica] : types.items())
        if (const auto canonical = CanonicalReplicaType(type); (canonical == type) == exact)
          job.replica_specs.insert_or_assign(canonical, DecodeReplicaSpec(replica));
  }
  job.run_policy = DecodeRunPolicy(Member(spec, "runPolicy"));
  job.success_policy = Text(spec, "successPolicy");
  job.enable_dynamic_worker = Bool(spec, "enableDynamicWorker");
  job.status = DecodeStatus(Member(object.doc(), "status"));
  return job;
}

Json EncodeTFJobStatus(const TFJobStatus& status) {
  Json conditions = Json::array();
  for (const auto& c : status.conditions)
    conditions.push_back(Json::object({{"type", c.type},
                                       {"status", c.status ? "True" : "False"},
                                       {"reason", c.reason},
                                       {"message", c.message},
                                       {"lastUpdateTime", FormatTime(c.last_update)},
                                       {"lastTransitionTime", FormatTime(c.last_transition)}}));
  Json types = nullptr;
  for (const auto& [type, counts] : status.replica_statuses) {
    const auto count = [](int n) { return n == 0 ? Json(nullptr) : Json(n); };
    types[type] = Json::object({{"active", count(counts.active)},
                                {"succeeded", count(counts.succeeded)},
                                {"failed", count(counts.failed)}});
  }
  const auto time = [](const std::optional<Instant>& t) { return t ? Json(FormatTime(*t)) : Json(nullptr); };
  return Json::object({{"conditions", std::move(conditions)},
                       {"replicaStatuses", std::move(types)},
                       {"startTime", time(status.start_time)},
                       {"completionTime", time(status.completion_time)}});
}

}  // namespace tfemu::api
