// batch/v1 Jobs on the whole control plane, on virtual time.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/api/batch_job.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

std::string Job(const std::string& spec, const std::string& policy = "Never") {
  return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n" + spec +
         "  template: {spec: {restartPolicy: " + policy + ", containers: [{name: c, image: i}]}}\n";
}

api::BatchJobStatus Status(const World& world) { return api::DecodeBatchJob(world.Get("Job", "j")).status; }

std::vector<std::string> Pods(const World& world, const std::string& phase = "Running") {
  std::vector<std::string> names;
  for (const auto& pod : world.List("Pod"))
    if (pod.doc().at("status").at("phase") == phase && !pod.terminating()) names.push_back(pod.key().name);
  return names;
}

void ExitAll(World& world, int code) {
  for (const auto& name : Pods(world)) world.Exit(name, code, "c");
}

const api::BatchJobCondition& Last(const api::BatchJobStatus& status) { return status.conditions.back(); }

TEST_CASE("one pod that succeeds completes the job") {
  World world;
  world.Apply(Job(""));
  world.Advance(1s);
  REQUIRE(Pods(world).size() == 1);
  CHECK(Status(world).active == 1);
  ExitAll(world, 0);
  const auto status = Status(world);
  CHECK(status.Is("Complete"));
  CHECK(status.succeeded == 1);
  CHECK(status.active == 0);
  CHECK(status.uncounted_succeeded.empty());
  CHECK(status.completion_time.has_value());
  const auto pod = world.List("Pod").at(0).doc();
  CHECK_FALSE(pod.at("metadata").contains("finalizers"));
  CHECK(pod.at("metadata").at("labels").at("batch.kubernetes.io/job-name") == "j");
  CHECK(world.EventsOf("j").back() == "Normal Completed Job completed");
}

TEST_CASE("completions and parallelism: never more at once, never more in all") {
  World world;
  world.Apply(Job("  completions: 5\n  parallelism: 2\n"));
  for (int done = 0; done < 5; done += 2) {
    world.Advance(1s);
    CHECK(Pods(world).size() == static_cast<size_t>(std::min(2, 5 - done)));
    ExitAll(world, 0);
  }
  CHECK(Status(world).Is("Complete"));
  CHECK(Status(world).succeeded == 5);
  CHECK(world.List("Pod").size() == 5);
}

TEST_CASE("indexed: each index once, with its name, host name and variable") {
  World world;
  world.Apply(Job("  completions: 4\n  parallelism: 4\n  completionMode: Indexed\n"));
  world.Advance(1s);
  REQUIRE(Pods(world).size() == 4);
  const auto pods = Pods(world);
  world.Exit(pods[0], 0, "c");
  world.Exit(pods[2], 0, "c");
  world.Exit(pods[3], 0, "c");
  CHECK(api::FormatIndexes(Status(world).completed_indexes) == "0,2,3");
  world.Exit(pods[1], 1, "c");
  world.Advance(11s);
  REQUIRE(Pods(world).size() == 1);
  const auto again = world.Get("Pod", Pods(world)[0]).doc();
  CHECK(again.at("metadata").at("annotations").at("batch.kubernetes.io/job-completion-index") == "1");
  CHECK(again.at("spec").at("hostname") == "j-1");
  CHECK(again.at("spec").at("containers").at(0).at("env").at(0).at("name") == "JOB_COMPLETION_INDEX");
  ExitAll(world, 0);
  CHECK(api::FormatIndexes(Status(world).completed_indexes) == "0-3");
  CHECK(Status(world).Is("Complete"));
}

TEST_CASE("failures: back-off doubles, and one beyond the limit fails the job") {
  World world;
  world.Apply(Job("  backoffLimit: 2\n"));
  for (const auto wait : {10s, 20s}) {
    world.Advance(1s);
    ExitAll(world, 3);
    world.Advance(wait - 1s);
    CHECK(Pods(world).empty());
    world.Advance(2s);
    CHECK(Pods(world).size() == 1);
  }
  ExitAll(world, 3);
  CHECK(Status(world).failed == 3);
  CHECK(Last(Status(world)).type == "Failed");
  CHECK(Last(Status(world)).reason == "BackoffLimitExceeded");
  world.Advance(600s);
  CHECK(Pods(world).empty());
}

TEST_CASE("restartPolicy OnFailure: the kubelet's restarts count against the limit") {
  World world;
  world.Apply(Job("  backoffLimit: 1\n", "OnFailure"));
  world.Advance(1s);
  ExitAll(world, 1);
  world.Advance(15s);
  ExitAll(world, 1);
  world.Advance(60s);
  CHECK(Last(Status(world)).reason == "BackoffLimitExceeded");
}

TEST_CASE("podFailurePolicy: fail the job, or forget the failure") {
  const std::string policy =
      "  backoffLimit: 0\n  podFailurePolicy:\n    rules:\n"
      "    - {action: FailJob, onExitCodes: {containerName: c, operator: In, values: [42]}}\n"
      "    - {action: Ignore, onExitCodes: {operator: In, values: [143]}}\n";
  {
    World world;
    world.Apply(Job(policy));
    world.Advance(1s);
    const std::string pod = Pods(world).at(0);
    ExitAll(world, 42);
    CHECK(Last(Status(world)).reason == "PodFailurePolicy");
    CHECK(Last(Status(world)).message == "Container c for pod default/" + pod +
                                             " failed with exit code 42 matching FailJob rule at index 0");
  }
  World world;
  world.Apply(Job(policy));
  world.Advance(1s);
  ExitAll(world, 143);
  world.Advance(20s);
  CHECK(Status(world).failed == 0);
  REQUIRE(Pods(world).size() == 1);
  ExitAll(world, 1);
  CHECK(Last(Status(world)).reason == "BackoffLimitExceeded");
}

TEST_CASE("a deadline ends it; a time to live takes it away") {
  World world;
  world.Apply(Job("  activeDeadlineSeconds: 30\n  ttlSecondsAfterFinished: 60\n"));
  world.Advance(29s);
  CHECK(Pods(world).size() == 1);
  world.Advance(2s);
  CHECK(Last(Status(world)).reason == "DeadlineExceeded");
  CHECK(Pods(world).empty());
  CHECK(Status(world).failed == 0);
  world.Advance(61s);
  CHECK_FALSE(world.Exists("Job", "j"));
  world.Advance(60s);
  CHECK(world.List("Pod").empty());
}

TEST_CASE("suspend deletes pods and counts none of them; resume starts anew") {
  World world;
  world.Apply(Job("  parallelism: 2\n  completions: 2\n"));
  world.Advance(1s);
  const auto job = world.Get("Job", "j");
  const auto suspend = [&](bool on) {
    REQUIRE(world.cluster->registry().Patch(job.key(), job.uid(), "", {{"spec", {{"suspend", on}}}}).ok());
    world.Advance(60s);
  };
  suspend(true);
  CHECK(Pods(world).empty());
  CHECK(Status(world).Is("Suspended"));
  CHECK(Status(world).failed == 0);
  suspend(false);
  CHECK(Pods(world).size() == 2);
  ExitAll(world, 0);
  CHECK(Status(world).Is("Complete"));
}

TEST_CASE("a pod that a user deletes is a failure and is replaced") {
  World world;
  world.Apply(Job(""));
  world.Advance(1s);
  REQUIRE(world.cluster->registry().Delete({"Pod", "default", Pods(world).at(0)}, {}).ok());
  world.Advance(60s);
  CHECK(Status(world).failed == 1);
  CHECK(Pods(world).size() == 1);
}

TEST_CASE("a job that is deleted takes its pods along, counted or not") {
  World world;
  world.Apply(Job("  parallelism: 3\n  completions: 3\n"));
  world.Advance(1s);
  world.Exit(Pods(world).at(0), 0, "c");
  REQUIRE(world.cluster->registry().Delete({"Job", "default", "j"}, {}).ok());
  world.Advance(60s);
  CHECK(world.List("Pod").empty());
}

TEST_CASE("what the API server refuses") {
  World world;
  const auto refusal = [&](const std::string& yaml) {
    const auto made = world.TryApply(yaml);
    return made.ok() || made.error().fields.empty() ? std::string() : made.error().fields[0].field;
  };
  CHECK(refusal(Job("", "Always")) == "spec.template.spec.restartPolicy");
  CHECK(refusal(Job("  completionMode: Indexed\n")) == "spec.completions");
  CHECK(refusal(Job("  parallelism: -1\n")) == "spec.parallelism");
  CHECK(refusal(Job("  podFailurePolicy: {rules: [{action: FailJob}]}\n")) ==
        "spec.podFailurePolicy.rules[0]");
}

}  // namespace
}  // namespace tfemu::test
