// ResourceQuota: what the admission refuses, what the operator makes of it, and what the status says.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/api/printer.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

std::string Quota(const std::string& hard) {
  return "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {" + hard + "}}\n";
}

std::string Job(const std::string& resources = "") {
  return "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: j}\nspec: {tfReplicaSpecs: {Worker: "
         "{replicas: 3, "
         "template: {spec: {containers: [{name: tensorflow, image: \"i:1\"" +
         resources + "}]}}}}}\n";
}

bool Contains(const std::vector<std::string>& events, const std::string& words) {
  return std::ranges::any_of(events,
                             [&](const std::string& event) { return event.find(words) != event.npos; });
}

TEST_CASE("a job gets the pods that its namespace has room for, and the others when there is more") {
  World world;
  world.Apply(Quota("pods: 2"));
  world.Apply(Job());
  world.Advance(std::chrono::seconds(5));
  CHECK(world.List("Pod").size() == 2);
  CHECK(
      Contains(world.EventsOf("j"),
               "Warning FailedCreatePod Error creating: pods \"j-worker-2\" is forbidden: exceeded quota: q, "
               "requested: pods=1, used: pods=2, limited: pods=2"));
  const auto quota = world.Get("ResourceQuota", "q");
  CHECK(quota.doc()["status"]["used"]["pods"] == "2");
  const auto patched =
      world.cluster->registry().Patch(quota.key(), quota.uid(), "/spec", {{"hard", {{"pods", "3"}}}});
  REQUIRE(patched.ok());
  world.Advance(std::chrono::seconds(60));
  CHECK(world.List("Pod").size() == 3);
  CHECK(world.Get("ResourceQuota", "q").doc()["status"] ==
        api::Json({{"hard", {{"pods", "3"}}}, {"used", {{"pods", "3"}}}}));
}

TEST_CASE("pods that have ended take no room") {
  World world;
  world.Apply(Quota("pods: 3, count/pods: 10"));
  world.Apply(Job());
  world.Advance(std::chrono::seconds(1));
  world.Exit("j-worker-0", 0);
  world.Advance(std::chrono::seconds(1));
  CHECK(world.Get("ResourceQuota", "q").doc()["status"]["used"] ==
        api::Json({{"pods", "2"}, {"count/pods", "3"}}));
}

TEST_CASE("what a quota counts has to be said") {
  World world;
  world.Apply(Quota("limits.memory: 1Gi, requests.cpu: 2"));
  const auto refused = world.TryApply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: \"i:1\"}, {name: "
      "b, "
      "image: \"i:1\", resources: {requests: {cpu: 1}}}]}\n");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().reason == Reason::kForbidden);
  CHECK(refused.error().message ==
        "pods \"p\" is forbidden: failed quota: q: must specify limits.memory for: a,b; requests.cpu for: a");
}

TEST_CASE("amounts are summed as the scheduler sums them") {
  World world;
  world.Apply(Quota("limits.memory: 1Gi, requests.cpu: 2, requests.nvidia.com/gpu: 1"));
  const auto apply = [&](const std::string& name, const std::string& cpu, const std::string& gpus) {
    return world.TryApply("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
                          "}\nspec: {containers: [{name: a, image: \"i:1\", resources: {limits: {cpu: " +
                          cpu + ", memory: 512Mi, nvidia.com/gpu: " + gpus + "}}}]}\n");
  };
  REQUIRE(apply("one", "1500m", "1").ok());
  const auto refused = apply("two", "600m", "1");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "pods \"two\" is forbidden: exceeded quota: q, requested: "
        "requests.cpu=600m,requests.nvidia.com/gpu=1, used: "
        "requests.cpu=1500m,requests.nvidia.com/gpu=1, limited: requests.cpu=2,requests.nvidia.com/gpu=1");
  CHECK(apply("three", "500m", "0").ok());
  const auto table = api::PrintTable("ResourceQuota", world.List("ResourceQuota"), world.executor.Now());
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].cells[1] == "requests.cpu: 2/2, requests.nvidia.com/gpu: 1/1");
  CHECK(table.rows[0].cells[2] == "limits.memory: 1Gi/1Gi");
}

TEST_CASE("objects of every kind can be counted") {
  World world;
  world.Apply(Quota("count/tfjobs.kubeflow.org: 1, configmaps: 0"));
  world.Apply(Job());
  const auto second = world.TryApply(Job().replace(Job().find("name: j}"), 8, "name: k}"));
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message ==
        "tfjobs.kubeflow.org \"k\" is forbidden: exceeded quota: q, requested: count/tfjobs.kubeflow.org=1, "
        "used: "
        "count/tfjobs.kubeflow.org=1, limited: count/tfjobs.kubeflow.org=1");
  CHECK_FALSE(world.TryApply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n").ok());
  CHECK(world.TryApply(Quota("pods: -1")).error().fields.at(0).message ==
        "Invalid value: \"-1\": must be greater than or equal to 0");
}

}  // namespace
}  // namespace tfemu::test
