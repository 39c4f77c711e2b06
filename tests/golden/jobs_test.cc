// Whole life cycles on the simulated control plane: what a user would see of jobs, deployments, volumes and
// pods.
#include <doctest/doctest.h>

#include <algorithm>

#include "emulator/api/decode.h"
#include "emulator/api/tfjob.h"
#include "emulator/api/volume.h"
#include "emulator/api/workload.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using namespace std::chrono_literals;
using api::Json;

std::string JobYaml(const std::string& name, const std::string& policy, int workers,
                    const std::string& run_policy = "{}") {
  return "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: " + name +
         "}\nspec:\n  runPolicy: " + run_policy +
         "\n  tfReplicaSpecs:\n    PS: {replicas: 1, template: {spec: {containers: [{name: tensorflow, "
         "image: \"i:1\"}]}}}\n"
         "    Worker: {replicas: " +
         std::to_string(workers) + ", restartPolicy: " + policy +
         ", template: {spec: {containers: [{name: tensorflow, image: \"i:1\"}]}}}\n";
}

// "Created=True Running=False Succeeded=True".
std::string Conditions(const World& world, const std::string& job) {
  std::string text;
  for (const auto& c : api::DecodeTFJob(world.Get("TFJob", job)).status.conditions)
    text += (text.empty() ? "" : " ") + c.type + "=" + (c.status ? "True" : "False");
  return text;
}

std::string Phase(const World& world, const std::string& pod) {
  return api::Text(world.Get("Pod", pod).doc()["status"], "phase");
}

TEST_CASE("worker 0 decides when there is no chief") {
  World world;
  world.Apply(JobYaml("j", "Never", 2));
  CHECK(Conditions(world, "j") == "Created=True Running=True");
  world.Exit("j-worker-1", 0);
  CHECK(Conditions(world, "j") == "Created=True Running=True");
  world.Exit("j-worker-0", 0);
  CHECK(Conditions(world, "j") == "Created=True Running=False Succeeded=True");
  CHECK(Phase(world, "j-ps-0") == "Running");  // cleanPodPolicy None
}

TEST_CASE("a worker that fails under Never fails the job") {
  World world;
  world.Apply(JobYaml("j", "Never", 2, "{cleanPodPolicy: Running}"));
  world.Exit("j-worker-1", 1);
  CHECK(Conditions(world, "j") == "Created=True Running=False Failed=True");
  const auto events = world.EventsOf("j");
  CHECK(std::ranges::count(
            events, "Normal TFJobFailed TFJob default/j has failed because 1 Worker replica(s) failed.") ==
        1);
  world.Advance(40s);
  CHECK_FALSE(world.Exists("Pod", "j-ps-0"));
  CHECK_FALSE(world.Exists("Service", "j-worker-0"));
  CHECK(world.Exists("Pod", "j-worker-1"));  // it had ended by itself
}

TEST_CASE("a retryable code under ExitCode replaces the pod, a permanent one fails the job") {
  World world;
  world.Apply(JobYaml("j", "ExitCode", 2));
  const std::string uid = world.Get("Pod", "j-worker-1").uid();
  world.Exit("j-worker-1", 130);
  world.Advance(1s);
  CHECK(Conditions(world, "j") == "Created=True Running=True");
  CHECK(world.Get("Pod", "j-worker-1").uid() != uid);
  const auto events = world.EventsOf("j");
  CHECK(std::ranges::count(
            events, "Warning TFJobRestarting job j is restarting because Worker replica(s) failed.") == 1);
  world.Exit("j-worker-1", 2);
  CHECK(Conditions(world, "j") == "Created=True Running=False Failed=True");
  CHECK(std::ranges::count(
            world.EventsOf("j"),
            "Warning TFJobFailed job \"j\" is failing because \"Worker\" replica(s) failed.") == 1);
}

TEST_CASE("OnFailure restarts in place with the kubelet's back-off") {
  World world;
  world.Apply(JobYaml("j", "OnFailure", 1));
  const auto restarts = [&] {
    return world.Get("Pod", "j-worker-0").doc()["status"]["containerStatuses"][0]["restartCount"].get<int>();
  };
  world.Exit("j-worker-0", 1);
  CHECK(restarts() == 1);  // the first at once
  world.Exit("j-worker-0", 1);
  CHECK(restarts() == 1);
  const Json waiting =
      world.Get("Pod", "j-worker-0").doc()["status"]["containerStatuses"][0]["state"]["waiting"];
  CHECK(waiting["reason"] == "CrashLoopBackOff");
  CHECK(waiting["message"].get<std::string>().starts_with(
      "back-off 10s restarting failed container=tensorflow pod=j-worker-0_default("));
  world.Advance(9s);
  CHECK(restarts() == 1);
  world.Advance(2s);
  CHECK(restarts() == 2);
  CHECK(Conditions(world, "j") == "Created=True Running=True");
}

TEST_CASE("run policies: back-off limit, deadline, suspension, time to live") {
  World world;
  world.Apply(JobYaml("limit", "OnFailure", 1, "{backoffLimit: 0}"));
  world.Exit("limit-worker-0", 1);
  world.Advance(1s);
  CHECK(Conditions(world, "limit") == "Created=True Running=False Failed=True");

  world.Apply(JobYaml("deadline", "Never", 1, "{activeDeadlineSeconds: 60}"));
  world.Advance(59s);
  CHECK(Conditions(world, "deadline") == "Created=True Running=True");
  world.Advance(2s);
  CHECK(Conditions(world, "deadline") == "Created=True Running=False Failed=True");

  world.Apply(JobYaml("asleep", "Never", 1, "{suspend: true}"));
  CHECK(Conditions(world, "asleep") == "Created=True Suspended=True");
  CHECK_FALSE(world.Exists("Pod", "asleep-ps-0"));

  world.Apply(JobYaml("brief", "Never", 1, "{ttlSecondsAfterFinished: 5}"));
  world.Exit("brief-worker-0", 0);
  world.Advance(4s);
  CHECK(world.Exists("TFJob", "brief"));
  world.Advance(60s);
  CHECK_FALSE(world.Exists("TFJob", "brief"));
  CHECK_FALSE(world.Exists("Pod", "brief-ps-0"));
}

TEST_CASE("a job that asks for more GPUs than there are waits and says why") {
  World world({.nodes = 2, .gpus = 1});
  world.Apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {containers: [{name: c, image: \"i:1\", "
      "resources: {limits: {nvidia.com/gpu: 2}}}]}\n");
  CHECK(Phase(world, "big") == "Pending");
  CHECK(world.EventsOf("big") ==
        std::vector<std::string>{"Warning FailedScheduling 0/2 nodes are available: 2 Insufficient "
                                 "nvidia.com/gpu. preemption: 0/2 nodes are available: "
                                 "2 Preemption is not helpful for scheduling."});
}

constexpr const char* kPodWithClaim =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: \"i:1\", "
    "volumeMounts: [{name: v, mountPath: /v}]}],\n"
    "  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}\n";
constexpr const char* kClaim =
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
    "spec: {storageClassName: nas, accessModes: [ReadWriteMany], resources: {requests: {storage: 5Gi}}}\n";
std::string VolumeYaml(const std::string& name, const std::string& size,
                       const std::string& mode = "ReadWriteMany") {
  return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name +
         "}\nspec: {storageClassName: nas, accessModes: [" + mode + "], capacity: {storage: " + size +
         "}, nfs: {server: s, path: /d}}\n";
}

TEST_CASE("a pod waits for its claim, the claim for a volume that fits, and each says so") {
  World world;
  world.Apply(kPodWithClaim);
  CHECK(world.EventsOf("p").back().find("persistentvolumeclaim \"data\" not found") != std::string::npos);
  world.Apply(VolumeYaml("small", "1Gi"));
  world.Apply(VolumeYaml("once", "9Gi", "ReadWriteOnce"));
  world.Apply(kClaim);
  CHECK(world.EventsOf("data").back() ==
        "Warning ProvisioningFailed storageclass.storage.k8s.io \"nas\" not found (once: it does not offer "
        "ReadWriteMany; small: it has 1Gi, not 5Gi)");
  CHECK(Phase(world, "p") == "Pending");
  world.Apply(VolumeYaml("huge", "20Gi"));
  world.Advance(2s);
  CHECK(api::DecodePersistentVolumeClaim(world.Get("PersistentVolumeClaim", "data")).volume_name == "huge");
  CHECK(Phase(world, "p") == "Running");
}

TEST_CASE("a claim in use is deleted when its last pod has gone, and its volume is released") {
  World world;
  world.Apply(VolumeYaml("v", "9Gi"));
  world.Apply(kClaim);
  world.Apply(kPodWithClaim);
  REQUIRE(Phase(world, "p") == "Running");
  REQUIRE(world.cluster->registry().Delete({"PersistentVolumeClaim", "default", "data"}, {}).ok());
  world.Advance(5s);
  CHECK(world.Exists("PersistentVolumeClaim", "data"));
  REQUIRE(world.cluster->registry().Delete({"Pod", "default", "p"}, {}).ok());
  world.Advance(40s);
  CHECK_FALSE(world.Exists("PersistentVolumeClaim", "data"));
  CHECK(api::DecodePersistentVolume(world.Get("PersistentVolume", "v")).phase == "Released");
}

std::string DeploymentYaml(const std::string& image, int replicas) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: " +
         std::to_string(replicas) +
         ", selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: "
         "{containers: [{name: c, image: \"" +
         image + "\"}]}}}\n";
}

TEST_CASE("a deployment becomes available, rolls a new template out, and keeps its promise meanwhile") {
  World world;
  world.Apply(DeploymentYaml("i:1", 4));
  world.Advance(1s);
  auto deployment = api::DecodeDeployment(world.Get("Deployment", "web"));
  CHECK(deployment.status.available_replicas == 4);
  const auto documents = Json::parse(world.Get("Deployment", "web").doc().dump());
  Json next = documents;
  next["spec"]["template"]["spec"]["containers"][0]["image"] = "i:2";
  const auto live = world.Get("Deployment", "web");
  REQUIRE(world.cluster->registry().Patch(live.key(), live.uid(), "", next).ok());
  for (int i = 0; i < 200; ++i) {
    world.Advance(500ms);
    CHECK(api::DecodeDeployment(world.Get("Deployment", "web")).status.available_replicas >=
          3);  // 25 % may be missing
  }
  deployment = api::DecodeDeployment(world.Get("Deployment", "web"));
  CHECK(deployment.status.updated_replicas == 4);
  CHECK(deployment.status.replicas == 4);
  CHECK(world.List("ReplicaSet").size() == 2);
  CHECK(std::ranges::count_if(world.List("Pod"), [](const api::Object& pod) {
          return pod.doc()["spec"]["containers"][0]["image"] == "i:2";
        }) == 4);
}

TEST_CASE("deleting an owner, or a namespace, takes what it owns") {
  World world;
  world.Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
  world.Apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team}\nspec: {containers: [{name: c, image: "
      "\"i:1\"}]}\n");
  world.Apply(DeploymentYaml("i:1", 2));
  REQUIRE(world.cluster->registry().Delete({"Deployment", "default", "web"}, {}).ok());
  REQUIRE(world.cluster->registry().Delete({"Namespace", "", "team"}, {}).ok());
  CHECK(world.TryApply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team}\n")
            .error()
            .reason == Reason::kForbidden);
  world.Advance(60s);
  CHECK(world.List("Pod").empty());
  CHECK(world.List("ReplicaSet").empty());
  CHECK_FALSE(world.store.Get({"Namespace", "", "team"}).ok());
}

TEST_CASE("init containers run in order, and one that fails holds the others back") {
  World world;
  world.Apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {restartPolicy: Never, initContainers: [{name: "
      "a, image: \"i:1\"}, {name: b, image: \"i:1\"}],\n"
      "  containers: [{name: c, image: \"i:1\"}]}\n");
  CHECK(Phase(world, "p") == "Pending");
  world.Exit("p", 0, "a");
  CHECK(api::Text(world.Get("Pod", "p").doc()["status"]["containerStatuses"][0]["state"]["waiting"],
                  "reason") == "PodInitializing");
  world.Exit("p", 0, "b");
  CHECK(Phase(world, "p") == "Running");
  world.Exit("p", 3, "c");
  CHECK(Phase(world, "p") == "Failed");
}

TEST_CASE("a program that ignores SIGTERM is killed when its grace is over") {
  World world(
      {.director = [](const auto&, const auto&) { return runtime::Script{.ignores_sigterm = true}; }});
  world.Apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {terminationGracePeriodSeconds: 7, containers: "
      "[{name: c, image: \"i:1\"}]}\n");
  REQUIRE(world.cluster->registry().Delete({"Pod", "default", "p"}, {}).ok());
  world.Advance(6s);
  CHECK(world.Exists("Pod", "p"));
  world.Advance(2s);
  CHECK_FALSE(world.Exists("Pod", "p"));
}

TEST_CASE("no attempt of a container is started twice, whatever happens") {
  World world({.director = [](const auto&, const runtime::ContainerLaunch& c) {
    return runtime::Script{.run_for = std::chrono::seconds(3 + c.attempt), .exit_code = c.attempt % 2};
  }});
  for (int i = 0; i < 5; ++i)
    world.Apply(JobYaml("j" + std::to_string(i), i % 2 == 0 ? "OnFailure" : "Always", 2));
  world.Advance(600s);
  for (const auto& [attempt, starts] : world.runtime.starts()) CHECK_MESSAGE(starts == 1, attempt);
}

}  // namespace
}  // namespace tfemu::test
