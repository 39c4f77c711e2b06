#include "emulator/api/tfjob_settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/schema.h"
#include "emulator/api/validation.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

using nlohmann::json;

constexpr Field kFields[] = {Boolean("cleanPodPolicyAtLimits"),
                             String("cleanPodPolicyDefault"),
                             String("customClusterDomain"),
                             Boolean("evaluatorInCluster"),
                             String("profile"),
                             String("retryRule"),
                             Boolean("singleReplicaConfig"),
                             String("sparseKey"),
                             Boolean("strictUpstreamQuirks")};
constexpr Schema kSchema{kFields};

// Which version behaves how, newest first: a profile is the row of its name.
struct Profile {
  std::string_view name;
  bool evaluator_in_cluster, single_replica_config, sparse_cluster, running_by_default, policy_at_limits,
      retry_by_list;
};
constexpr Profile kProfiles[] = {
    {"v1.9.4", true, false, false, false, true, false}, {"v1.9", true, false, false, false, false, false},
    {"v1.8", true, false, false, false, false, false},  {"v1.7", true, false, false, false, false, false},
    {"v1.6", true, false, true, false, true, false},    {"v1.5", true, false, true, true, true, false},
    {"v1.4", true, false, true, true, true, true},      {"v1.3", true, false, true, true, true, true},
    {"v1.2", true, false, true, true, true, true},      {"v1.1", true, false, true, true, true, true},
    {"v1.0", false, true, true, true, true, true},      {"v0.5", false, true, true, true, true, true},
};

TFJobSettings Of(const Profile& profile) {
  TFJobSettings settings;
  settings.evaluator_in_cluster = profile.evaluator_in_cluster;
  settings.single_replica_config = profile.single_replica_config;
  settings.sparse_cluster = profile.sparse_cluster;
  if (profile.running_by_default) settings.clean_pod_policy_default = CleanPodPolicy::kRunning;
  settings.clean_pod_policy_at_limits = profile.policy_at_limits;
  settings.retry_by_list = profile.retry_by_list;
  return settings;
}

std::vector<std::string> ProfileNames() {
  std::vector<std::string> names;
  for (const Profile& profile : kProfiles) names.emplace_back(profile.name);
  return names;
}

void CheckWord(const json& doc, const char* name, const std::string& path,
               const std::vector<std::string>& known, std::vector<FieldMessage>& messages) {
  const json& value = Member(doc, name);
  if (!value.is_string()) return;
  const auto& word = value.get_ref<const std::string&>();
  if (std::ranges::find(known, word) != known.end()) return;
  const auto distance = [&](const std::string& k) { return EditDistance(ToLower(k), ToLower(word)); };
  const auto near = std::ranges::min_element(known, {}, distance);
  messages.push_back({path + "." + name, "Unsupported value: \"" + word + "\"" +
                                             (distance(*near) > 2 ? "" : " (did you mean " + *near + "?)") +
                                             ": supported values: " + Join(known, ", ")});
}

}  // namespace

std::vector<FieldMessage> CheckTFJobSettings(const json& doc, const std::string& path) {
  std::vector<FieldMessage> messages;
  if (doc.is_null()) return messages;
  const FieldFindings findings = CheckFields(doc, kSchema);
  for (const auto* found : {&findings.errors, &findings.warnings})
    for (const FieldMessage& message : *found)
      messages.push_back({message.field.empty() ? path : path + "." + message.field, message.message});
  CheckWord(doc, "profile", path, ProfileNames(), messages);
  CheckWord(doc, "sparseKey", path, {"cluster", "sparseCluster"}, messages);
  CheckWord(doc, "cleanPodPolicyDefault", path, {"None", "Running"}, messages);
  CheckWord(doc, "retryRule", path, {"ge128", "list"}, messages);
  if (const std::string domain = Text(doc, "customClusterDomain"); !domain.empty())
    if (const std::string problem = NameProblem(domain); !problem.empty())
      messages.push_back({path + ".customClusterDomain", "Invalid value: \"" + domain + "\": " + problem});
  return messages;
}

TFJobSettings DecodeTFJobSettings(const json& doc) {
  TFJobSettings settings;
  const std::string name = Text(doc, "profile");
  for (const Profile& profile : kProfiles)
    if (profile.name == name) settings = Of(profile);
  settings.evaluator_in_cluster = Bool(doc, "evaluatorInCluster", settings.evaluator_in_cluster);
  settings.single_replica_config = Bool(doc, "singleReplicaConfig", settings.single_replica_config);
  settings.clean_pod_policy_at_limits =
      Bool(doc, "cleanPodPolicyAtLimits", settings.clean_pod_policy_at_limits);
  settings.strict_upstream_quirks = Bool(doc, "strictUpstreamQuirks");
  settings.custom_cluster_domain = Text(doc, "customClusterDomain");
  if (const std::string key = Text(doc, "sparseKey"); !key.empty())
    settings.sparse_cluster = key == "sparseCluster";
  if (const std::string policy = Text(doc, "cleanPodPolicyDefault"); !policy.empty())
    settings.clean_pod_policy_default =
        policy == "Running" ? CleanPodPolicy::kRunning : CleanPodPolicy::kNone;
  if (const std::string rule = Text(doc, "retryRule"); !rule.empty()) settings.retry_by_list = rule == "list";
  return settings;
}

std::string TFJobSettingsText(const TFJobSettings& settings) {
  const TFJobSettings usual;
  std::vector<std::string> parts;
  const auto add = [&](bool differs, const char* name, const std::string& value) {
    if (differs) parts.push_back(std::string(name) + ": " + value);
  };
  const auto word = [](bool value) { return std::string(value ? "true" : "false"); };
  add(settings.evaluator_in_cluster != usual.evaluator_in_cluster, "evaluatorInCluster",
      word(settings.evaluator_in_cluster));
  add(settings.single_replica_config, "singleReplicaConfig", "true");
  add(settings.sparse_cluster, "sparseKey", "sparseCluster");
  add(settings.clean_pod_policy_default == CleanPodPolicy::kRunning, "cleanPodPolicyDefault", "Running");
  add(settings.clean_pod_policy_at_limits, "cleanPodPolicyAtLimits", "true");
  add(settings.retry_by_list, "retryRule", "list");
  add(settings.strict_upstream_quirks, "strictUpstreamQuirks", "true");
  add(!settings.custom_cluster_domain.empty(), "customClusterDomain", settings.custom_cluster_domain);
  return Join(parts, ", ");
}

}  // namespace tfemu::api
