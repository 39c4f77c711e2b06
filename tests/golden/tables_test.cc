// Walks the conformance tables of tests/golden/tables: a row more needs no code.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "emulator/api/pod.h"
#include "emulator/base/strings.h"
#include "emulator/controllers/tfjob_reconciler.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using api::Json;
using Row = std::vector<std::string>;

constexpr Instant kNow{1'764'528'000'000'000'000};

std::vector<Row> ReadTable(const std::string& name, size_t columns) {
  std::vector<Row> rows;
  std::istringstream text(ReadFile(SourcePath("tests/golden/tables/" + name)));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    Row row;
    for (const std::string& cell : Split(line, '|')) row.emplace_back(Trim(cell));
    REQUIRE_MESSAGE(row.size() == columns, name << ": " << line);
    rows.push_back(std::move(row));
  }
  REQUIRE(!rows.empty());
  return rows;
}

struct Word {
  const char *prefix, *type;
};
constexpr Word kTypes[] = {
    {"chief", "Chief"}, {"master", "Master"}, {"ps", "PS"}, {"w", "Worker"}, {"eval", "Evaluator"}};

// "chief1 w4 ps2 ExitCode dynamic" as a manifest with the API server's defaults.
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
    else if (word == "ExitCode" || word == "OnFailure" || word == "Always") policy = word;
    else if (word == "port3333") container["ports"] = {{{"name", "tfjob-port"}, {"containerPort", 3333}}};
    else if (word == "unnamed3333") container["ports"] = {{{"containerPort", 3333}}};
    else
      for (const auto& [prefix, type] : kTypes)
        if (const auto count =
                word.starts_with(prefix) ? ParseInt(word.substr(std::string(prefix).size())) : std::nullopt)
          specs[type] = {{"replicas", *count}};
  }
  for (auto& [type, spec] : specs.items()) {
    spec["template"] = {{"spec", {{"containers", Json::array({container})}}}};
    if (!policy.empty()) spec["restartPolicy"] = policy;
  }
  api::SetTFJobDefaults(doc);
  return doc;
}

api::Pod PodOf(const api::TFJob& job, const std::string& type, int index, api::PodPhase phase,
               int exit_code) {
  Json doc = api::MakeReplicaPod(job, type, index);
  doc["metadata"]["uid"] = doc["metadata"]["name"];
  api::Pod pod = api::DecodePod(api::Object(std::move(doc)));
  pod.status.phase = phase;
  api::ContainerStatus status;
  status.name = "tensorflow";
  if (phase == api::PodPhase::kRunning) status.state.type = api::ContainerState::Type::kRunning;
  else status.state = {api::ContainerState::Type::kTerminated, "", "", exit_code};
  pod.status.containers = {status};
  return pod;
}

// "f/s/a" pods of one type, those that succeeded first unless `first` says which state index 0 is in.
void AddPods(const api::TFJob& job, const std::string& type, const std::string& counts,
             const std::string& extra, std::vector<api::Pod>& pods) {
  if (counts == "-") return;
  const Row parts = Split(counts, '/');
  std::vector<std::pair<api::PodPhase, int64_t>> groups = {
      {api::PodPhase::kSucceeded, *ParseInt(parts.at(1))},
      {api::PodPhase::kFailed, *ParseInt(parts.at(0))},
      {api::PodPhase::kRunning, *ParseInt(parts.at(2))}};
  if (type == "Worker" && extra.find("worker-0-failed") != std::string::npos) std::swap(groups[0], groups[1]);
  if (type == "Worker" && extra.find("worker-0-active") != std::string::npos) std::swap(groups[0], groups[2]);
  const int failed_code = extra.find("code-130") != std::string::npos ? 130 : 1;
  int index = 0;
  for (const auto& [phase, count] : groups)
    for (int64_t i = 0; i < count; ++i)
      pods.push_back(PodOf(job, type, index++, phase, phase == api::PodPhase::kFailed ? failed_code : 0));
}

controllers::Plan PassOver(const api::TFJob& job, const std::vector<api::Pod>& pods) {
  controllers::TFJobObservation observed{
      job, {"kubeflow.org/v1", "TFJob", "default", "j", "job-uid", 1}, pods, {}, kNow};
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

api::TFJob CreatedJob(const std::string& words) {
  api::TFJob job = api::DecodeTFJob(api::Object(JobDocument(words)));
  job.status.conditions.push_back({"Created", true, "TFJobCreated", "TFJob j is created.", kNow, kNow});
  job.status.start_time = kNow;
  return job;
}

TEST_CASE("table status.txt") {
  for (const Row& row : ReadTable("status.txt", 7)) {
    CAPTURE(Join(row, " | "));
    const api::TFJob job = CreatedJob(row[0]);
    std::vector<api::Pod> pods;
    for (const auto& [type, counts] : {std::pair{"PS", row[1]}, {"Worker", row[2]}, {"Chief", row[3]}})
      if (job.replica_specs.contains(type)) AddPods(job, type, counts, row[4], pods);
    const api::TFJobStatus status = StatusAfter(job, PassOver(job, pods));
    CHECK(InWords(status) == row[5]);
    CHECK(std::string(status.completion_time ? "set" : "-") == row[6]);
  }
}

TEST_CASE("table tf_config.txt") {
  for (const Row& row : ReadTable("tf_config.txt", 3)) {
    CAPTURE(Join(row, " | "));
    const api::TFJob job = api::DecodeTFJob(api::Object(JobDocument(row[0])));
    const Row task = Split(row[1], ' ');
    const auto config =
        api::TFConfig(job, api::CanonicalReplicaType(task.at(0)), static_cast<int>(*ParseInt(task.at(1))));
    CHECK(config.value_or("-") == row[2]);
  }
}

TEST_CASE("table cleanup.txt") {
  for (const Row& row : ReadTable("cleanup.txt", 4)) {
    CAPTURE(Join(row, " | "));
    Json doc = JobDocument(row[0]);
    doc["spec"]["runPolicy"]["cleanPodPolicy"] = row[1];
    api::TFJob job = api::DecodeTFJob(api::Object(doc));
    job.status.conditions.push_back({"Succeeded", true, "TFJobSucceeded", "", kNow, kNow});
    job.status.completion_time = kNow;
    std::vector<api::Pod> pods;
    for (const auto& [type, spec] : job.replica_specs)
      for (int i = 0; i < spec.replicas; ++i)
        pods.push_back(
            PodOf(job, type, i, row[2] == "active" ? api::PodPhase::kRunning : api::PodPhase::kSucceeded, 0));
    size_t left = pods.size();
    for (const auto& action : PassOver(job, pods).actions)
      if (const auto* gone = std::get_if<controllers::DeleteObject>(&action); gone && gone->key.kind == "Pod")
        --left;
    CHECK(std::to_string(left) == row[3]);
  }
}

// Pods that the plan deletes or creates, by name.
template <class Action>
Row PodsOf(const controllers::Plan& plan) {
  Row names;
  for (const auto& action : plan.actions)
    if (const auto* one = std::get_if<Action>(&action)) {
      if constexpr (std::is_same_v<Action, controllers::CreateObject>) {
        if (one->object.key().kind == "Pod") names.push_back(one->object.key().name);
      } else if (one->key.kind == "Pod") {
        names.push_back(one->key.name);
      }
    }
  return names;
}

std::string OrDash(const Row& names) { return names.empty() ? "-" : Join(names, ", "); }

TEST_CASE("table restart.txt") {
  const auto rows = ReadTable("restart.txt", 4);
  for (const Row& row : rows) {
    CAPTURE(Join(row, " | "));
    const api::TFJob job = CreatedJob("w2 " + row[0]);
    const std::vector<api::Pod> pods = {
        PodOf(job, "Worker", 0, api::PodPhase::kFailed, static_cast<int>(*ParseInt(row[1]))),
        PodOf(job, "Worker", 1, api::PodPhase::kPending, 0)};
    const auto plan = PassOver(job, pods);
    CHECK(OrDash(PodsOf<controllers::DeleteObject>(plan)) == (row[2] == "kept" ? "-" : "j-worker-0"));
    CHECK(InWords(StatusAfter(job, plan)) == row[3]);
  }
  MESSAGE("restart.txt: " << rows.size() << " rows");
}

TEST_CASE("table scaling.txt") {
  const auto rows = ReadTable("scaling.txt", 4);
  for (const Row& row : rows) {
    CAPTURE(Join(row, " | "));
    const api::TFJob job = CreatedJob(row[0]);
    std::vector<api::Pod> pods;
    for (int i = 0; i < *ParseInt(row[1]); ++i)
      pods.push_back(PodOf(job, "Worker", i, api::PodPhase::kRunning, 0));
    const auto plan = PassOver(job, pods);
    CHECK(OrDash(PodsOf<controllers::DeleteObject>(plan)) == row[2]);
    CHECK(OrDash(PodsOf<controllers::CreateObject>(plan)) == row[3]);
  }
  MESSAGE("scaling.txt: " << rows.size() << " rows");
}

TEST_CASE("table limits.txt") {
  const auto rows = ReadTable("limits.txt", 6);
  for (const Row& row : rows) {
    CAPTURE(Join(row, " | "));
    Json doc = JobDocument(row[0]);
    const Row limit = Split(row[1], ' ');
    if (limit.at(1) != "unset") doc["spec"]["runPolicy"][limit.at(0)] = *ParseInt(limit.at(1));
    api::TFJob job = api::DecodeTFJob(api::Object(doc));
    job.status = CreatedJob(row[0]).status;
    job.status.start_time = kNow + -std::chrono::seconds(*ParseInt(row[2]));
    std::vector<api::Pod> pods;
    for (const auto& [type, spec] : job.replica_specs)
      for (int i = 0; i < spec.replicas; ++i) {
        pods.push_back(PodOf(job, type, i, api::PodPhase::kRunning, 0));
        if (type == "Worker")
          pods.back().status.containers[0].restart_count = static_cast<int>(*ParseInt(row[3]));
      }
    const auto plan = PassOver(job, pods);
    CHECK(std::to_string(pods.size() - PodsOf<controllers::DeleteObject>(plan).size()) == row[4]);
    CHECK(Split(InWords(StatusAfter(job, plan)), ',').back().ends_with(row[5]));
  }
  MESSAGE("limits.txt: " << rows.size() << " rows");
}

}  // namespace
}  // namespace tfemu::test
