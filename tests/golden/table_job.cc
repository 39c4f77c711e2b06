#include "tests/golden/table_job.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::test {
namespace {

using api::Json;
using api::PodPhase;

struct Word {
  const char *prefix, *type;
};
constexpr Word kTypes[] = {
    {"chief", "Chief"}, {"master", "Master"}, {"ps", "PS"}, {"w", "Worker"}, {"eval", "Evaluator"}};

// "w4" or "w4:Never" as a replica type; false when it is none.
bool AddType(const std::string& word, Json& specs) {
  const Row parts = Split(word, ':');
  for (const auto& [prefix, type] : kTypes) {
    if (!parts[0].starts_with(prefix)) continue;
    const auto count = ParseInt(parts[0].substr(std::string(prefix).size()));
    if (!count) continue;
    specs[type] = {{"replicas", *count}};
    if (parts.size() > 1) specs[type]["restartPolicy"] = parts[1];
    return true;
  }
  return false;
}

template <class Action>
Row NamesIn(const controllers::Plan& plan, const std::string& kind) {
  Row names;
  for (const auto& action : plan.actions)
    if (const auto* one = std::get_if<Action>(&action)) {
      api::ObjectKey key;
      if constexpr (std::is_same_v<Action, controllers::CreateObject>) key = one->object.key();
      else key = one->key;
      if (key.kind == kind) names.push_back(key.name);
    }
  return names;
}

std::string OrDash(const Row& names) { return names.empty() ? "-" : Join(names, ", "); }

}  // namespace

Json JobDocument(const std::string& words) {
  Json doc = {{"apiVersion", "kubeflow.org/v1"},
              {"kind", "TFJob"},
              {"metadata", {{"name", "j"}, {"namespace", "default"}, {"uid", "job-uid"}, {"generation", 1}}},
              {"spec", {{"tfReplicaSpecs", Json::object()}}}};
  Json& specs = doc["spec"]["tfReplicaSpecs"];
  Json container = {{"name", "tensorflow"}, {"image", "i"}};
  std::string policy;
  for (const std::string& word : Split(words, ' ')) {
    if (word == "dynamic") doc["spec"]["enableDynamicWorker"] = true;
    else if (word == "AllWorkers") doc["spec"]["successPolicy"] = "AllWorkers";
    else if (word == "ExitCode" || word == "OnFailure" || word == "Always" || word == "Never") policy = word;
    else if (word == "port3333") container["ports"] = {{{"name", "tfjob-port"}, {"containerPort", 3333}}};
    else if (word == "unnamed3333") container["ports"] = {{{"containerPort", 3333}}};
    else REQUIRE_MESSAGE(AddType(word, specs), "unknown word " << word);
  }
  for (auto& [type, spec] : specs.items()) {
    spec["template"] = {{"spec", {{"containers", Json::array({container})}}}};
    if (!policy.empty() && !spec.contains("restartPolicy")) spec["restartPolicy"] = policy;
  }
  api::SetTFJobDefaults(doc);
  return doc;
}

api::TFJob Job(const std::string& words) { return api::DecodeTFJob(api::Object(JobDocument(words))); }

api::TFJob CreatedJob(const std::string& words) {
  api::TFJob job = Job(words);
  job.status.conditions.push_back({"Created", true, "TFJobCreated", "TFJob j is created.", kNow, kNow});
  job.status.start_time = kNow;
  return job;
}

api::TFJobSettings Settings(const std::string& words) {
  Json doc = Json::object();
  if (words != "-")
    for (const std::string& word : Split(words, ' ')) {
      const size_t equals = word.find('=');
      const std::string value = word.substr(equals + 1);
      if (value == "true" || value == "false") doc[word.substr(0, equals)] = value == "true";
      else doc[word.substr(0, equals)] = value;
    }
  const auto problems = api::CheckTFJobSettings(doc, "tfjob");
  REQUIRE_MESSAGE(problems.empty(), problems.front().field << ": " << problems.front().message);
  return api::DecodeTFJobSettings(doc);
}

api::Pod PodOf(const api::TFJob& job, const std::string& type, int index, PodPhase phase, int exit_code) {
  Json doc = api::MakeReplicaPod(job, type, index);
  doc["metadata"]["uid"] = doc["metadata"]["name"];
  api::Pod pod = api::DecodePod(api::Object(std::move(doc)));
  pod.status.phase = phase;
  api::ContainerStatus status;
  status.name = "tensorflow";
  if (phase == PodPhase::kRunning) status.state.type = api::ContainerState::Type::kRunning;
  else if (phase != PodPhase::kPending)
    status.state = {api::ContainerState::Type::kTerminated, "", "", exit_code};
  pod.status.containers = {status};
  return pod;
}

std::vector<api::Pod> AllPods(const api::TFJob& job, PodPhase phase) {
  std::vector<api::Pod> pods;
  for (const auto& [type, spec] : job.replica_specs)
    for (int i = 0; i < spec.replicas; ++i) pods.push_back(PodOf(job, type, i, phase));
  return pods;
}

std::vector<api::Pod> PodsInWords(const api::TFJob& job, const std::string& words) {
  std::vector<api::Pod> pods;
  if (words == "-") return pods;
  for (const std::string& text : Split(words, ',')) {
    const Row parts = Split(std::string(Trim(text)), ' ');
    const size_t dash = parts.at(0).rfind('-');
    const std::string& state = parts.at(1);
    PodPhase phase = PodPhase::kPending;
    if (state == "running") phase = PodPhase::kRunning;
    else if (state == "succeeded") phase = PodPhase::kSucceeded;
    else if (state == "failed" || state == "lost") phase = PodPhase::kFailed;
    else REQUIRE_MESSAGE(state == "pending", "unknown state " << state);
    pods.push_back(PodOf(job, api::CanonicalReplicaType(parts[0].substr(0, dash)),
                         static_cast<int>(*ParseInt(parts[0].substr(dash + 1))), phase,
                         state == "failed" ? static_cast<int>(*ParseInt(parts.at(2))) : 0));
    if (state == "lost") pods.back().status.containers.clear();
  }
  return pods;
}

controllers::Plan PassOver(const api::TFJob& job, const std::vector<api::Pod>& pods,
                           const api::TFJobSettings& settings, const std::vector<api::Service>& services) {
  controllers::TFJobObservation observed{
      job, {"kubeflow.org/v1", "TFJob", "default", "j", "job-uid", 1}, pods, services, kNow, settings};
  std::ranges::sort(observed.pods, {}, [](const api::Pod& pod) { return pod.meta.name; });
  return controllers::ReconcileTFJob(observed);
}

api::TFJobStatus StatusAfter(const api::TFJob& job, const controllers::Plan& plan) {
  for (const auto& action : plan.actions)
    if (const auto* patch = std::get_if<controllers::PatchObject>(&action);
        patch && patch->pointer == "/status")
      return api::DecodeTFJob(api::Object(Json{{"kind", "TFJob"}, {"status", patch->patch.doc()}})).status;
  return job.status;
}

std::string InWords(const api::TFJobStatus& status) {
  Row words;
  for (const auto& c : status.conditions) words.push_back(c.type + (c.status ? " T" : " F"));
  return Join(words, ", ");
}

std::string Deleted(const controllers::Plan& plan, const std::string& kind) {
  return OrDash(NamesIn<controllers::DeleteObject>(plan, kind));
}
std::string Created(const controllers::Plan& plan, const std::string& kind) {
  return OrDash(NamesIn<controllers::CreateObject>(plan, kind));
}
size_t CountDeleted(const controllers::Plan& plan, const std::string& kind) {
  return NamesIn<controllers::DeleteObject>(plan, kind).size();
}
size_t CountCreated(const controllers::Plan& plan, const std::string& kind) {
  return NamesIn<controllers::CreateObject>(plan, kind).size();
}

}  // namespace tfemu::test
