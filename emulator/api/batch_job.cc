#include "emulator/api/batch_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/validation.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

constexpr const char* kIndexKey = "batch.kubernetes.io/job-completion-index";
constexpr const char* kNameLabel = "batch.kubernetes.io/job-name";
constexpr const char* kUidLabel = "batch.kubernetes.io/controller-uid";

PodFailureRule DecodeRule(const Json& doc) {
  PodFailureRule rule;
  const std::string action = Text(doc, "action");
  if (action == "FailJob") rule.action = PodFailureRule::Action::kFailJob;
  if (action == "Ignore") rule.action = PodFailureRule::Action::kIgnore;
  const Json& codes = Member(doc, "onExitCodes");
  rule.by_exit_code = codes.is_object();
  rule.container = Text(codes, "containerName");
  rule.in = Text(codes, "operator") != "NotIn";
  for (const Json& code : Items(codes, "values"))
    if (code.is_number_integer()) rule.exit_codes.insert(code.get<int64_t>());
  for (const Json& condition : Items(doc, "onPodConditions")) {
    const std::string status = Text(condition, "status");
    rule.conditions.push_back({Text(condition, "type"), status.empty() ? "True" : status});
  }
  return rule;
}

BatchJobStatus DecodeStatus(const Json& doc) {
  const auto count = [&](const char* name) { return static_cast<int>(Int(doc, name).value_or(0)); };
  const auto time = [](const Json& o, const char* name) { return ParseTime(Text(o, name)); };
  BatchJobStatus status{time(doc, "startTime"), time(doc, "completionTime"), count("active"), count("ready"),
                        count("terminating"),   count("succeeded"),          count("failed")};
  status.completed_indexes = ParseIndexes(Text(doc, "completedIndexes"));
  const Json& uncounted = Member(doc, "uncountedTerminatedPods");
  status.uncounted_succeeded = Texts(uncounted, "succeeded");
  status.uncounted_failed = Texts(uncounted, "failed");
  for (const Json& c : Items(doc, "conditions"))
    status.conditions.push_back({Text(c, "type"), Text(c, "status") == "True", Text(c, "reason"),
                                 Text(c, "message"), time(c, "lastProbeTime").value_or(Instant{}),
                                 time(c, "lastTransitionTime").value_or(Instant{})});
  return status;
}

Json TextsOrNull(const std::vector<std::string>& texts) {
  return texts.empty() ? Json(nullptr) : Json(texts);
}

void CheckRules(const Json& spec, const Json& pod_spec, Messages& messages) {
  const Json& policy = Member(spec, "podFailurePolicy");
  if (!policy.is_object()) return;
  if (Text(pod_spec, "restartPolicy") != "Never")
    messages.push_back({"spec.podFailurePolicy",
                        "Invalid value: only \"Never\" is supported for restartPolicy when "
                        "podFailurePolicy is specified"});
  for (size_t i = 0; const Json& rule : Items(policy, "rules")) {
    const std::string at = "spec.podFailurePolicy.rules[" + std::to_string(i++) + "]";
    CheckOneOf(rule, "action", at, {"Count", "FailIndex", "FailJob", "Ignore"}, messages);
    const Json& codes = Member(rule, "onExitCodes");
    const bool both = codes.is_object() && !Items(rule, "onPodConditions").empty();
    if (both || (!codes.is_object() && Items(rule, "onPodConditions").empty()))
      messages.push_back(
          {at, "Invalid value: specifying one of OnExitCodes and OnPodConditions is required"});
    if (!codes.is_object()) continue;
    CheckOneOf(codes, "operator", at + ".onExitCodes", {"In", "NotIn"}, messages);
    for (const Json& code : Items(codes, "values"))
      if (code == 0 && Text(codes, "operator") == "In")
        messages.push_back(
            {at + ".onExitCodes.values", "Invalid value: 0: must not be 0 for the In operator"});
  }
}

}  // namespace

bool BatchJobStatus::Is(std::string_view condition) const {
  return std::ranges::any_of(conditions,
                             [&](const BatchJobCondition& c) { return c.type == condition && c.status; });
}

BatchJob DecodeBatchJob(const Object& object) {
  const Json& spec = Member(object.doc(), "spec");
  BatchJob job{.meta = DecodeMeta(object), .pod_template = Object(Member(spec, "template"))};
  if (const auto completions = Int(spec, "completions")) job.completions = static_cast<int>(*completions);
  job.parallelism = static_cast<int>(Int(spec, "parallelism").value_or(1));
  job.backoff_limit = static_cast<int>(Int(spec, "backoffLimit").value_or(6));
  job.indexed = Text(spec, "completionMode") == "Indexed";
  job.suspend = Bool(spec, "suspend");
  job.active_deadline_seconds = Int(spec, "activeDeadlineSeconds");
  job.ttl_seconds_after_finished = Int(spec, "ttlSecondsAfterFinished");
  for (const Json& rule : Items(Member(spec, "podFailurePolicy"), "rules"))
    job.failure_rules.push_back(DecodeRule(rule));
  job.status = DecodeStatus(Member(object.doc(), "status"));
  return job;
}

Json EncodeBatchJobStatus(const BatchJobStatus& status) {
  const auto count = [](int n) { return n == 0 ? Json(nullptr) : Json(n); };
  const auto time = [](const std::optional<Instant>& t) { return t ? Json(FormatTime(*t)) : Json(nullptr); };
  Json conditions = Json::array();
  for (const BatchJobCondition& c : status.conditions)
    conditions.push_back(Json::object({{"type", c.type},
                                       {"status", c.status ? "True" : "False"},
                                       {"reason", c.reason},
                                       {"message", c.message},
                                       {"lastProbeTime", FormatTime(c.last_probe)},
                                       {"lastTransitionTime", FormatTime(c.last_transition)}}));
  const std::string indexes = FormatIndexes(status.completed_indexes);
  return Json::object(
      {{"startTime", time(status.start_time)},
       {"completionTime", time(status.completion_time)},
       {"active", count(status.active)},
       {"ready", status.ready},
       {"terminating", status.terminating},
       {"succeeded", count(status.succeeded)},
       {"failed", count(status.failed)},
       {"completedIndexes", indexes.empty() ? Json(nullptr) : Json(indexes)},
       {"uncountedTerminatedPods", Json::object({{"succeeded", TextsOrNull(status.uncounted_succeeded)},
                                                 {"failed", TextsOrNull(status.uncounted_failed)}})},
       {"conditions", conditions.empty() ? Json(nullptr) : std::move(conditions)}});
}

void SetBatchJobDefaults(Json& job) {
  Json& spec = job["spec"];
  // A queue of work: as many as are running may be enough. Both unset means one of one.
  if (Member(spec, "completions").is_null() && Member(spec, "parallelism").is_null()) spec["completions"] = 1;
  SetDefault(spec, "parallelism", 1);
  SetDefault(spec, "backoffLimit", 6);
  SetDefault(spec, "completionMode", "NonIndexed");
  SetDefault(spec, "suspend", false);
  SetDefault(spec, "manualSelector", false);
  if (!Bool(spec, "manualSelector")) spec.erase("manualSelector");
  SetDefault(spec, "podReplacementPolicy",
             Member(spec, "podFailurePolicy").is_object() ? "Failed" : "TerminatingOrFailed");
  if (Member(spec, "template").is_object()) SetPodTemplateDefaults(spec["template"]);
}

std::vector<FieldMessage> ValidateBatchJob(const Json& job, const Json* previous) {
  Messages messages;
  CheckMeta(job, messages);
  const Json& spec = Member(job, "spec");
  for (const char* name :
       {"completions", "parallelism", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"})
    CheckNotNegative(spec, name, "spec", messages);
  CheckOneOf(spec, "completionMode", "spec", {"NonIndexed", "Indexed"}, messages);
  CheckOneOf(spec, "podReplacementPolicy", "spec", {"Failed", "TerminatingOrFailed"}, messages);
  if (Text(spec, "completionMode") == "Indexed" && !Int(spec, "completions"))
    messages.push_back({"spec.completions", "Required value: when completion mode is Indexed"});
  const Json& pod_spec = Member(Member(spec, "template"), "spec");
  if (!pod_spec.is_object()) {
    messages.push_back({"spec.template.spec", "Required value"});
    return messages;
  }
  for (auto& message : ValidatePodSpec(pod_spec, "spec.template.spec"))
    messages.push_back(std::move(message));
  if (const std::string policy = Text(pod_spec, "restartPolicy"); policy != "OnFailure" && policy != "Never")
    messages.push_back({"spec.template.spec.restartPolicy",
                        policy.empty() ? "Required value: valid values: \"OnFailure\", \"Never\""
                                       : "Unsupported value: \"" + policy +
                                             "\": supported values: \"OnFailure\", \"Never\""});
  CheckRules(spec, pod_spec, messages);
  if (previous == nullptr) return messages;
  const Json& before = Member(*previous, "spec");
  for (const char* name : {"completionMode", "podFailurePolicy", "backoffLimitPerIndex"})
    if (Member(before, name) != Member(spec, name))
      messages.push_back({std::string("spec.") + name, "Invalid value: field is immutable"});
  return messages;
}

void AdmitBatchJob(Json& job) {
  Json& spec = job["spec"];
  if (Bool(spec, "manualSelector")) return;
  const std::string uid = Text(Member(job, "metadata"), "uid"), name = Text(Member(job, "metadata"), "name");
  spec["selector"] = Json::object({{"matchLabels", Json::object({{kUidLabel, uid}})}});
  Json& labels = spec["template"]["metadata"]["labels"];
  labels[kUidLabel] = labels["controller-uid"] = uid;
  labels[kNameLabel] = labels["job-name"] = name;
}

std::string FormatIndexes(const std::set<int>& indexes) {
  std::vector<std::string> parts;
  for (auto it = indexes.begin(); it != indexes.end();) {
    const int first = *it;
    int last = first;
    while (++it != indexes.end() && *it == last + 1) last = *it;
    parts.push_back(std::to_string(first));
    if (last == first + 1) parts.push_back(std::to_string(last));
    else if (last > first) parts.back() += "-" + std::to_string(last);
  }
  return Join(parts, ",");
}

std::set<int> ParseIndexes(const std::string& text) {
  std::set<int> indexes;
  for (const std::string& part : Split(text, ',')) {
    const size_t dash = part.find('-');
    const auto first = ParseInt(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : ParseInt(part.substr(dash + 1));
    if (!first || !last) continue;
    for (int64_t i = *first; i <= *last; ++i) indexes.insert(static_cast<int>(i));
  }
  return indexes;
}

Json MakeJobPod(const BatchJob& job, std::optional<int> index) {
  const Json& from = job.pod_template.doc();
  Json meta = Member(from, "metadata").is_object() ? from["metadata"] : Json::object();
  Json spec = Member(from, "spec");
  const OwnerReference owner = ControllerReference("batch/v1", "Job", job.meta);
  const std::string stem = job.meta.name + (index ? "-" + std::to_string(*index) : "");
  meta.merge_patch(Json::object({{"generateName", stem + "-"},
                                 {"namespace", job.meta.ns},
                                 {"ownerReferences", EncodeOwnerReferences({owner})},
                                 {"finalizers", Json::array({kJobTrackingFinalizer})}}));
  if (index) {
    meta["annotations"][kIndexKey] = meta["labels"][kIndexKey] = std::to_string(*index);
    if (Text(spec, "hostname").empty()) spec["hostname"] = stem;
    const Json field = Json::object({{"fieldPath", std::string("metadata.labels['") + kIndexKey + "']"}});
    for (const char* list : {"initContainers", "containers"})
      if (spec.contains(list))
        for (Json& container : spec[list])
          container["env"].push_back(Json::object(
              {{"name", "JOB_COMPLETION_INDEX"}, {"valueFrom", Json::object({{"fieldRef", field}})}}));
  }
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(meta)}, {"spec", std::move(spec)}});
}

std::optional<int> CompletionIndex(const Pod& pod) {
  const auto it = pod.meta.annotations.find(kIndexKey);
  if (it == pod.meta.annotations.end()) return std::nullopt;
  const auto index = ParseInt(it->second);
  return index ? std::optional(static_cast<int>(*index)) : std::nullopt;
}

Json UntrackPatch(const ObjectMeta& pod) {
  return WithoutFinalizerPatch(pod.finalizers, kJobTrackingFinalizer);
}

}  // namespace tfemu::api
