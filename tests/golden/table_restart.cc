// 8.F and 8.J: restarts, exit codes, scaling.
#include <doctest/doctest.h>

#include "emulator/base/strings.h"
#include "tests/golden/table_job.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using api::PodPhase;

void CheckPolicy(const Row& row) {
  CHECK(api::MakeReplicaPod(Job("w1:" + row[0]), "Worker", 0)["spec"]["restartPolicy"] == row[1]);
}
const TableRunner kPolicies("restart_policy.txt", 2, CheckPolicy);

// Worker 0 of two has Failed.
void CheckRestart(const Row& row) {
  const api::TFJob job = CreatedJob("w2 " + row[1]);
  const std::string state = row[2] == "none" ? "lost" : "failed " + row[2];
  const auto plan =
      PassOver(job, PodsInWords(job, "worker-0 " + state + ", worker-1 pending"), Settings(row[0]));
  CHECK(Deleted(plan) == (row[3] == "kept" ? "-" : "j-worker-0"));
  const api::TFJobStatus status = StatusAfter(job, plan);
  CHECK(InWords(status) == row[4]);
  CHECK(status.conditions.back().message == row[5]);
}
const TableRunner kRestarts("restart.txt", 6, CheckRestart);

// The kubelet and the operator together: ps-0 of a job of one PS and two workers exits, with a control plane
// on virtual time around it.
void CheckExit(const Row& row) {
  World world;
  api::Json job = JobDocument("ps1 w2 " + row[0]);
  job["metadata"].erase("uid");
  world.Apply(job.dump());
  const std::string uid = world.Get("Pod", "j-ps-0").uid();
  world.Advance(std::chrono::seconds(1));
  world.Exit("j-ps-0", static_cast<int>(*ParseInt(row[1])));
  world.Advance(std::chrono::seconds(30));
  const api::Object object = world.Get("Pod", "j-ps-0");
  const api::Pod pod = api::DecodePod(object);
  const bool again = object.uid() != uid || pod.status.containers.at(0).restart_count > 0;
  CHECK(again == (row[2] == "yes"));
  CHECK(object.doc()["status"]["phase"] == row[3]);
}
const TableRunner kExits("exits.txt", 4, CheckExit);

void CheckScaling(const Row& row) {
  const api::TFJob job = CreatedJob(row[0]);
  std::vector<api::Pod> pods;
  if (row[1] != "-")
    for (const std::string& index : Split(row[1], ' '))
      pods.push_back(PodOf(job, "Worker", static_cast<int>(*ParseInt(index)), PodPhase::kRunning));
  const auto plan = PassOver(job, pods, Settings(row[4]));
  CHECK(Deleted(plan) == row[2]);
  CHECK(Created(plan) == row[3]);
}
const TableRunner kScaling("scaling.txt", 5, CheckScaling);

}  // namespace
}  // namespace tfemu::test
