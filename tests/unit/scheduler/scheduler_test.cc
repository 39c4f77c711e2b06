// Where pods go, and the sentence when they go nowhere.
#include "scheduler/scheduler.h"

#include <doctest/doctest.h>

namespace tfemu::scheduler {
namespace {

NodeState Node(const std::string& name, int cpus, int gpus = 0) {
  NodeState state;
  state.node.meta.name = name;
  state.node.meta.labels = {{"kubernetes.io/hostname", name}};
  state.node.ready = true;
  state.node.allocatable = {{"cpu", {cpus * 1000}}, {"memory", {int64_t{8} << 40}}, {"pods", {110'000}}};
  if (gpus > 0) state.node.allocatable["nvidia.com/gpu"] = {gpus * 1000};
  return state;
}

api::Pod Pod(const api::Resources& requests) {
  api::Pod pod;
  pod.spec.containers.push_back({});
  pod.spec.containers[0].requests = requests;
  return pod;
}

TEST_CASE("a pod goes where most is left, and equal nodes are taken in order") {
  Snapshot snapshot{{Node("a", 4), Node("b", 8), Node("c", 8)}};
  CHECK(Schedule(snapshot, Pod({{"cpu", {1000}}}), "").node == "b");
  Assume(snapshot.nodes[1], Pod({{"cpu", {6000}}}).spec, {});
  CHECK(Schedule(snapshot, Pod({{"cpu", {1000}}}), "").node == "c");
}

TEST_CASE("the sentence says how many nodes lack what") {
  Snapshot snapshot{{Node("a", 4), Node("b", 4, 2), Node("c", 4, 2)}};
  Assume(snapshot.nodes[1], Pod({{"nvidia.com/gpu", {2000}}}).spec, {});
  snapshot.nodes[2].node.taints = {{"dedicated", "training", "NoSchedule"}};
  CHECK(Schedule(snapshot, Pod({{"nvidia.com/gpu", {1000}}}), "").message ==
        "0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: training}, 2 Insufficient "
        "nvidia.com/gpu. "
        "preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption "
        "is not helpful for scheduling.");
}

TEST_CASE("several resources of one node are all named") {
  const Snapshot snapshot{{Node("a", 1)}};
  const auto decision = Schedule(snapshot, Pod({{"cpu", {2000}}, {"memory", {int64_t{9} << 40}}}), "");
  CHECK(decision.node.empty());
  REQUIRE(decision.rejections.size() == 1);
  CHECK(decision.rejections[0].reasons ==
        std::vector<std::string>{"Insufficient cpu", "Insufficient memory"});
}

TEST_CASE("node selector, tolerations and cordons") {
  Snapshot snapshot{{Node("a", 4), Node("b", 4)}};
  api::Pod pod = Pod({});
  pod.spec.node_selector = {{"kubernetes.io/hostname", "b"}};
  CHECK(Schedule(snapshot, pod, "").node == "b");
  snapshot.nodes[1].node.taints = {{"k", "v", "NoSchedule"}};
  CHECK(Schedule(snapshot, pod, "").node.empty());
  pod.spec.tolerations = {{"k", "Equal", "v", ""}};
  CHECK(Schedule(snapshot, pod, "").node == "b");
  snapshot.nodes[1].node.unschedulable = true;
  CHECK(Schedule(snapshot, pod, "").node.empty());
}

TEST_CASE("what is missing before any node is looked at") {
  const Snapshot snapshot{{Node("a", 4)}};
  CHECK(
      Schedule(snapshot, Pod({}), "persistentvolumeclaim \"x\" not found").message ==
      "0/1 nodes are available: persistentvolumeclaim \"x\" not found. preemption: 0/1 nodes are available: "
      "1 Preemption is not helpful for scheduling.");
  CHECK(Schedule({}, Pod({}), "").message == "no nodes available to schedule pods");
}

}  // namespace
}  // namespace tfemu::scheduler
