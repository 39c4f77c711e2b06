// Pods that come with the name of their node.
#include "emulator/manager/pod_admission.h"

#include <doctest/doctest.h>

#include "emulator/api/gpu_models.h"
#include "tests/support/world.h"

namespace tfemu::manager {
namespace {

using test::World;

test::WorldOptions TwoGpus() {
  test::WorldOptions options;
  options.nodes = 1;
  options.devices = {{api::MakeVirtualGpus({"A10", 2, 0, 0, {}}).value(), {}}};
  return options;
}

std::string PodYaml(const std::string& name, int gpus, const std::string& node,
                    const std::string& annotations = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", annotations: {" + annotations +
         "}}\nspec:\n  " + (node.empty() ? "" : "nodeName: " + node) +
         "\n  containers:\n  - {name: c, image: i, resources: {limits: {nvidia.com/gpu: " +
         std::to_string(gpus) + "}}}\n";
}

api::GpuShares Held(const World& world, const std::string& pod) {
  return api::GpuSharesOf(api::DecodeMeta(world.Get("Pod", pod)));
}

std::string StatusOf(const World& world, const std::string& pod, const char* member) {
  return world.Get("Pod", pod).doc().at("status").value(member, "");
}

TEST_CASE("its node gives it devices that nobody else has") {
  World world(TwoGpus());
  world.Apply(PodYaml("a", 1, "node-1"));
  world.Apply(PodYaml("b", 1, ""));
  REQUIRE(Held(world, "a").contains("c"));
  REQUIRE(Held(world, "b").contains("c"));
  CHECK(Held(world, "a").at("c") != Held(world, "b").at("c"));
  CHECK(StatusOf(world, "a", "phase") == "Running");
}

TEST_CASE("more than the node has left is refused in the kubelet's words") {
  World world(TwoGpus());
  world.Apply(PodYaml("a", 1, ""));
  world.Apply(PodYaml("b", 2, "node-1"));
  CHECK(StatusOf(world, "b", "phase") == "Failed");
  CHECK(StatusOf(world, "b", "reason") == "UnexpectedAdmissionError");
  CHECK(StatusOf(world, "b", "message") ==
        "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 2, "
        "Available: 1, which is unexpected");
}

TEST_CASE("nobody starts a pod of a node that is not there") {
  World world(TwoGpus());
  world.Apply(PodYaml("a", 1, "nowhere"));
  CHECK(StatusOf(world, "a", "phase") == "Pending");
  CHECK(world.EventsOf("a").back().starts_with("Warning NodeNotFound"));
  REQUIRE(world.cluster->registry().Delete({"Pod", "default", "a"}, {}).ok());
  world.Advance(std::chrono::seconds(40));
  CHECK_FALSE(world.Exists("Pod", "a"));
}

TEST_CASE("a manifest cannot write what the system writes") {
  World world(TwoGpus());
  const auto written = world.TryApply(
      PodYaml("a", 1, "",
              "tfemu.dev/gpus: '{\"c\": [{\"uuid\": \"GPU-1\"}]}', k8s.aliyun.com/eci-instance-id: eci-x"));
  REQUIRE(written.ok());
  CHECK(written.value().warnings.size() == 2);
  CHECK(Held(world, "a").at("c")[0].uuid.starts_with(api::kVirtualGpuPrefix));
  CHECK_FALSE(
      world.Get("Pod", "a").doc()["metadata"]["annotations"].contains("k8s.aliyun.com/eci-instance-id"));
}

TEST_CASE("a pod that names a zone's node gets an instance there") {
  test::WorldOptions options;
  options.nodes = 0;
  options.eci.zones = {"cn-beijing-k", "cn-beijing-h"};
  options.eci.serverless = true;
  World world(options);
  world.Apply(
      PodYaml("a", 1, "virtual-kubelet-cn-beijing-h", "k8s.aliyun.com/eci-use-specs: ecs.gn7i-c8g1.2xlarge"));
  CHECK(StatusOf(world, "a", "phase") == "Running");
  CHECK(api::EciInstanceOf(api::DecodeMeta(world.Get("Pod", "a"))).has_value());
  CHECK(Held(world, "a").contains("c"));
}

TEST_CASE("an instance's GPUs that no container asks for are mentioned") {
  World world(TwoGpus());
  const std::string specs = "k8s.aliyun.com/eci-use-specs: ecs.gn7i-c8g1.2xlarge";
  CHECK(world.TryApply(PodYaml("a", 1, "", specs)).value().warnings.empty());
  const auto none = world.TryApply("apiVersion: v1\nkind: Pod\nmetadata: {name: b, annotations: {" + specs +
                                   "}}\nspec: {containers: [{name: c, image: i}]}\n");
  REQUIRE(none.value().warnings.size() == 1);
  CHECK(none.value().warnings[0].message.ends_with("they see none"));
}

TEST_CASE("devices of a former run count for nothing") {
  api::Node node;
  node.gpus = {api::MakeVirtualGpus({"A10", 1, 0, 0, {}}).value(), {}};
  api::Pod pod;
  pod.spec.containers.emplace_back();
  pod.spec.containers[0].name = "c";
  pod.spec.containers[0].limits["nvidia.com/gpu"] = api::Quantity{1000};
  pod.meta.annotations[api::kGpuAnnotation] = api::EncodeGpuShares({{"c", {{"GPU-gone", 0, 0}}}});
  CHECK_FALSE(Admitted(pod, node));
  pod.meta.annotations[api::kGpuAnnotation] =
      api::EncodeGpuShares({{"c", {{node.gpus.devices[0].uuid, 0, 0}}}});
  CHECK(Admitted(pod, node));
}

}  // namespace
}  // namespace tfemu::manager
