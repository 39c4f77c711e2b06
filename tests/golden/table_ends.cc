// 8.G to 8.I: cleanup, limits, time to live, suspension.
#include <doctest/doctest.h>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"
#include "tests/golden/table_job.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using api::Json;
using api::PodPhase;

api::TFJob WithPolicy(const std::string& words, const Json& run_policy) {
  Json doc = JobDocument(words);
  doc["spec"]["runPolicy"] = run_policy;
  api::TFJob job = api::DecodeTFJob(api::Object(std::move(doc)));
  job.status = CreatedJob(words).status;
  return job;
}

std::vector<api::Service> ServicesOf(const api::TFJob& job) {
  std::vector<api::Service> services;
  for (const auto& [type, spec] : job.replica_specs)
    for (int i = 0; i < spec.replicas; ++i)
      services.push_back(api::DecodeService(api::Object(api::MakeReplicaService(job, type, i))));
  return services;
}

void CheckLeft(const api::TFJob& job, const std::vector<api::Pod>& pods, const api::TFJobSettings& settings,
               const std::string& left) {
  const auto services = ServicesOf(job);
  const auto plan = PassOver(job, pods, settings, services);
  CHECK(std::to_string(pods.size() - CountDeleted(plan)) == left);
  CHECK(std::to_string(services.size() - CountDeleted(plan, "Service")) == left);
}

void CheckCleanup(const Row& row) {
  api::TFJob job = WithPolicy(row[0], row[1] == "-" ? Json::object() : Json{{"cleanPodPolicy", row[1]}});
  job.status.conditions.push_back({row[4], true, "TFJob" + row[4], "", kNow, kNow});
  if (row[4] == "Suspended") job.run_policy.suspend = true;
  else job.status.completion_time = kNow;
  CheckLeft(job, PodsInWords(job, row[2]), Settings(row[5]), row[3]);
}
const TableRunner kCleanup("cleanup.txt", 6, CheckCleanup);

// Chief and workers print a word and end, the PS never do.
void CheckCleanPods(const Row& row) {
  World world;
  Json job = JobDocument("chief1 ps2 w4 Never");
  job["metadata"].erase("uid");
  job["spec"]["runPolicy"]["cleanPodPolicy"] = row[0];
  world.Apply(job.dump());
  for (const char* pod : {"j-worker-0", "j-worker-1", "j-worker-2", "j-worker-3", "j-chief-0"})
    world.Exit(pod, 0);
  world.Advance(std::chrono::seconds(60));
  Row left;
  for (const api::Object& pod : world.List("Pod"))
    left.push_back(pod.key().name.substr(2) + " " + pod.doc()["status"]["phase"].get<std::string>());
  CHECK((left.empty() ? "-" : Join(left, ", ")) == row[1]);
}
const TableRunner kCleanPods("clean_pods.txt", 2, CheckCleanPods);

void CheckShutdown(const Row& row) {
  World world;
  Json job = JobDocument(row[0]);
  job["metadata"].erase("uid");
  world.Apply(job.dump());
  world.Exit("j-" + row[1], 0);
  world.Advance(std::chrono::seconds(1));
  const auto status = api::DecodeTFJob(world.Get("TFJob", "j")).status;
  CHECK(status.conditions.back().type == row[2]);
  int running = 0;
  for (const api::Object& pod : world.List("Pod")) running += pod.doc()["status"]["phase"] == "Running";
  CHECK(std::to_string(running) == row[3]);
}
const TableRunner kShutdown("shutdown.txt", 4, CheckShutdown);

// All pods run since the start, the workers have restarted.
void CheckLimit(const Row& row) {
  const Row limit = Split(row[1], ' ');
  Json policy = {{"cleanPodPolicy", row[6]}};
  if (limit.at(1) != "unset") policy[limit.at(0)] = *ParseInt(limit.at(1));
  api::TFJob job = WithPolicy(row[0], policy);
  job.status.start_time = kNow + -std::chrono::seconds(*ParseInt(row[2]));
  auto pods = AllPods(job, PodPhase::kRunning);
  for (api::Pod& pod : pods)
    if (pod.meta.name.starts_with("j-worker"))
      pod.status.containers[0].restart_count = static_cast<int>(*ParseInt(row[3]));
  CheckLeft(job, pods, Settings(row[7]), row[4]);
  const auto status = StatusAfter(job, PassOver(job, pods, Settings(row[7])));
  CHECK(Split(InWords(status), ',').back().ends_with(row[5]));
}
const TableRunner kLimits("limits.txt", 8, CheckLimit);

void CheckNewFailure(const Row& row) {
  api::TFJob job = WithPolicy(row[0], {{"backoffLimit", *ParseInt(row[1])}});
  job.status.replica_statuses["Worker"].failed = static_cast<int>(*ParseInt(row[2]));
  const auto status = StatusAfter(job, PassOver(job, PodsInWords(job, row[3])));
  CHECK(InWords(status) == row[4]);
  CHECK(status.conditions.back().message == row[5]);
}
const TableRunner kNewFailures("new_failures.txt", 6, CheckNewFailure);

// A word such as "5s ago" or "in 4s" as a time; "-" for none.
std::optional<Instant> When(const std::string& words) {
  if (words == "-") return std::nullopt;
  const bool ahead = words.starts_with("in ");
  const auto seconds =
      *ParseInt(ahead ? words.substr(3, words.size() - 4) : words.substr(0, words.size() - 5));
  return kNow + std::chrono::seconds(ahead ? seconds : -seconds);
}

void CheckTtl(const Row& row) {
  Json policy = Json::object();
  if (row[1] != "-") policy["ttlSecondsAfterFinished"] = *ParseInt(row[1]);
  policy["suspend"] = row[2] == "Suspended";
  api::TFJob job = WithPolicy("w1", policy);
  job.status.conditions.push_back({row[2], true, "TFJob" + row[2], "", kNow, kNow});
  job.status.completion_time = When(row[3]);
  const auto plan = PassOver(job, {});
  CHECK(std::string(CountDeleted(plan, "TFJob") == 1 ? "gone" : "kept") == row[4]);
  const int64_t again = plan.requeue_after ? plan.requeue_after->count() / 1'000'000'000 : -1;
  CHECK((plan.requeue_after ? std::to_string(again) : "-") == row[5]);
}
const TableRunner kTtl("ttl.txt", 6, CheckTtl);

void CheckIsSuspended(const Row& row) {
  Json doc = JobDocument("w1");
  if (row[0] == "-") doc["spec"].erase("runPolicy");
  else doc["spec"]["runPolicy"] = Json::parse(row[0]);
  CHECK(api::DecodeTFJob(api::Object(std::move(doc))).run_policy.suspend == (row[1] == "true"));
}
const TableRunner kIsSuspended("is_suspended.txt", 2, CheckIsSuspended);

std::string WithReasons(const api::TFJobStatus& status) {
  Row words;
  for (const auto& c : status.conditions)
    words.push_back(c.type + (c.status ? " T " : " F ") + c.reason + " \"" + c.message + "\"");
  return words.empty() ? "-" : Join(words, ", ");
}

// How the start time differs from the one before: unset, set, same, later.
std::string Against(const std::optional<Instant>& now, const std::optional<Instant>& before) {
  if (!now) return "unset";
  if (!before) return "set";
  return *now == *before ? "same" : "later";
}

// A life of one job, a step a ";": create WORDS or RUNPOLICY, suspend true or false. Ten seconds pass after
// each.
void CheckSuspension(const Row& row) {
  const Row steps = Split(row[1], ';'), conditions = Split(row[2], ';'), pods = Split(row[3], ';'),
            starts = Split(row[4], ';');
  REQUIRE(steps.size() == conditions.size());
  World world;
  Json job = JobDocument("chief1 w1");
  job["metadata"].erase("uid");
  job["metadata"]["name"] = "test-job";
  job["spec"]["runPolicy"] = Json::parse(row[0]);
  std::optional<Instant> start;
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::string step(Trim(steps[i]));
    INFO(step);
    if (step == "create") world.Apply(job.dump());
    else
      REQUIRE(world.cluster->registry()
                  .Patch({"TFJob", "default", "test-job"}, world.Get("TFJob", "test-job").uid(), "",
                         {{"spec", {{"runPolicy", {{"suspend", step == "suspend"}}}}}})
                  .ok());
    world.Advance(std::chrono::seconds(40));
    const auto status = api::DecodeTFJob(world.Get("TFJob", "test-job")).status;
    CHECK(WithReasons(status) == Trim(conditions[i]));
    CHECK(std::to_string(world.List("Pod").size()) + "/" + std::to_string(world.List("Service").size()) ==
          Trim(pods[i]));
    CHECK(Against(status.start_time, start) == Trim(starts[i]));
    start = status.start_time;
  }
}
const TableRunner kSuspension("suspension.txt", 5, CheckSuspension);

}  // namespace
}  // namespace tfemu::test
