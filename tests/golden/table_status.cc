// 8.D and 8.E: what counts of pods make of a job, and the normal path.
#include <doctest/doctest.h>

#include <algorithm>

#include "emulator/base/strings.h"
#include "emulator/controllers/tfjob_plan.h"
#include "tests/golden/table_job.h"

namespace tfemu::test {
namespace {

using api::PodPhase;

int Number(const std::string& text) { return static_cast<int>(*ParseInt(text)); }

// "f/s/a" pods of one type, those that succeeded first unless `first` says which state index 0 is in.
void AddPods(const api::TFJob& job, const std::string& type, const std::string& counts,
             const std::string& extra, std::vector<api::Pod>& pods) {
  if (counts == "-") return;
  const Row parts = Split(counts, '/');
  std::vector<std::pair<PodPhase, int>> groups = {{PodPhase::kSucceeded, Number(parts.at(1))},
                                                  {PodPhase::kFailed, Number(parts.at(0))},
                                                  {PodPhase::kRunning, Number(parts.at(2))}};
  if (type == "Worker" && extra.find("worker-0-failed") != std::string::npos) std::swap(groups[0], groups[1]);
  if (type == "Worker" && extra.find("worker-0-active") != std::string::npos) std::swap(groups[0], groups[2]);
  const int failed_code = extra.find("code-130") != std::string::npos ? 130 : 1;
  int index = 0;
  for (const auto& [phase, count] : groups)
    for (int i = 0; i < count; ++i)
      pods.push_back(PodOf(job, type, index++, phase, phase == PodPhase::kFailed ? failed_code : 0));
}

void CheckStatus(const Row& row) {
  const api::TFJob job = CreatedJob(row[0]);
  std::vector<api::Pod> pods;
  for (const auto& [type, counts] : {std::pair{"PS", row[1]}, {"Worker", row[2]}, {"Chief", row[3]}})
    if (job.replica_specs.contains(type)) AddPods(job, type, counts, row[4], pods);
  const api::TFJobStatus status = StatusAfter(job, PassOver(job, pods));
  CHECK(InWords(status) == row[5]);
  CHECK(std::string(status.completion_time ? "set" : "-") == row[6]);
}
const TableRunner kStatus("status.txt", 7, CheckStatus);

// Pass after pass: the pods that each finds, and the conditions that it leaves.
void CheckPasses(const Row& row) {
  api::TFJob job = CreatedJob(row[0]);
  const Row passes = Split(row[1], ';'), expected = Split(row[2], ';');
  REQUIRE(passes.size() == expected.size());
  for (size_t i = 0; i < passes.size(); ++i) {
    INFO("pass " << i + 1);
    const auto pods = PodsInWords(job, std::string(Trim(passes[i])));
    job.status = StatusAfter(job, PassOver(job, pods));
    CHECK(InWords(job.status) == Trim(expected[i]));
  }
  CHECK(std::string(job.status.completion_time ? "set" : "-") == row[3]);
}
const TableRunner kPasses("passes.txt", 4, CheckPasses);

void CheckCounts(const Row& row) {
  const api::TFJob job = CreatedJob(row[0]);
  std::vector<api::Pod> pods = PodsInWords(job, row[1]);
  for (const std::string& terminating : Split(row[2], ' '))
    for (api::Pod& pod : pods)
      if (pod.meta.name == "j-" + terminating) pod.meta.deletion_timestamp = kNow;
  const auto counts = StatusAfter(job, PassOver(job, pods)).replica_statuses.at("Worker");
  CHECK(std::to_string(counts.failed) + "/" + std::to_string(counts.succeeded) + "/" +
            std::to_string(counts.active) ==
        row[3]);
}
const TableRunner kCounts("counts.txt", 4, CheckCounts);

void CheckWorkerZero(const Row& row) {
  const api::TFJob job = Job(row[1]);
  std::vector<api::Pod> pods;
  AddPods(job, "Worker", row[0] == "0/0/0" ? "-" : row[0], "", pods);
  CHECK(controllers::WorkerZeroCompleted(job, pods) == (row[2] == "true"));
}
const TableRunner kWorkerZero("worker_zero.txt", 3, CheckWorkerZero);

controllers::JobConditionType TypeOf(const std::string& name) {
  using controllers::JobConditionType;
  for (const auto type :
       {JobConditionType::kCreated, JobConditionType::kRunning, JobConditionType::kRestarting,
        JobConditionType::kSucceeded, JobConditionType::kFailed, JobConditionType::kSuspended})
    if (controllers::ToString(type) == name) return type;
  FAIL("no condition " << name);
  return JobConditionType::kCreated;
}

api::TFJobStatus AfterSetting(const std::string& words) {
  api::TFJobStatus status;
  for (const std::string& word : Split(words, ','))
    controllers::SetCondition(status, TypeOf(std::string(Trim(word))), true,
                              "TFJob" + std::string(Trim(word)), "m", kNow);
  return status;
}

void CheckConditions(const Row& row) { CHECK(InWords(AfterSetting(row[0])) == row[1]); }
const TableRunner kConditions("conditions.txt", 2, CheckConditions);

void CheckFinished(const Row& row) {
  const api::TFJobStatus status = AfterSetting(row[0]);
  CHECK(status.finished() == (row[1] == "true"));
  for (const char* type : {"Succeeded", "Failed", "Running", "Suspended"})
    CHECK(status.Has(type) == (row[0] == type));
}
const TableRunner kFinished("finished.txt", 2, CheckFinished);

// Pods "pending/active/succeeded/failed" of one type.
void AddPhases(const api::TFJob& job, const std::string& type, const std::string& counts,
               std::vector<api::Pod>& pods) {
  if (counts == "-") return;
  const Row parts = Split(counts, '/');
  const PodPhase phases[] = {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed};
  int index = 0;
  for (size_t i = 0; i < 4; ++i)
    for (int n = 0; n < Number(parts.at(i)); ++n) pods.push_back(PodOf(job, type, index++, phases[i]));
}

void AddServices(const api::TFJob& job, const std::string& type, int count,
                 std::vector<api::Service>& services) {
  for (int i = 0; i < count; ++i)
    services.push_back(api::DecodeService(api::Object(api::MakeReplicaService(job, type, i))));
}

std::string Counts(const api::TFJobStatus& status, const char* type) {
  const auto it = status.replica_statuses.find(type);
  if (it == status.replica_statuses.end()) return "-";
  return std::to_string(it->second.active) + "/" + std::to_string(it->second.succeeded) + "/" +
         std::to_string(it->second.failed);
}

void CheckControllerReferences(const controllers::Plan& plan) {
  for (const auto& action : plan.actions)
    if (const auto* made = std::get_if<controllers::CreateObject>(&action))
      CHECK(api::DecodeMeta(made->object).owner_references ==
            std::vector<api::OwnerReference>{{"kubeflow.org/v1", "TFJob", "j", "job-uid", true, true}});
}

// In which order the pods of a type are pending, active and succeeded, upstream's test leaves to chance:
// those that are pending come first, so that no row depends on worker 0 having succeeded.
void CheckNormalPath(const Row& row) {
  const api::TFJob job = CreatedJob(row[1]);
  std::vector<api::Pod> pods;
  AddPhases(job, "Worker", row[2], pods);
  AddPhases(job, "PS", row[3], pods);
  std::vector<api::Service> services;
  const Row existing = Split(row[4], '/');
  AddServices(job, "Worker", Number(existing.at(0)), services);
  if (job.replica_specs.contains("PS")) AddServices(job, "PS", Number(existing.at(1)), services);
  const auto plan = PassOver(job, pods, {}, services);
  const api::TFJobStatus status = StatusAfter(job, plan);
  CHECK(std::to_string(CountCreated(plan)) == row[5]);
  CHECK(std::to_string(CountCreated(plan, "Service")) == row[6]);
  CHECK(CountDeleted(plan) == 0);
  CheckControllerReferences(plan);
  CHECK(Counts(status, "Worker") == row[7]);
  CHECK(Counts(status, "PS") == row[8]);
  const api::JobCondition& last = status.conditions.back();
  CHECK((last.type == "Created" ? "-" : last.type + " " + last.reason) == row[9]);
  CHECK(status.start_time.has_value());
}
const TableRunner kNormalPath("normal_path.txt", 10, CheckNormalPath);

}  // namespace
}  // namespace tfemu::test
