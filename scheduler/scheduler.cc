#include "scheduler/scheduler.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::scheduler {
namespace {

using api::Quantity;
using api::Resources;

const Resources kOnePod = {{"pods", Quantity{1000}}};

Quantity Of(const Resources& resources, const std::string& name) {
  const auto it = resources.find(name);
  return it == resources.end() ? Quantity{} : it->second;
}

const api::Taint* UntoleratedTaint(const api::Node& node, const api::PodSpec& pod) {
  for (const api::Taint& taint : node.taints)
    if (taint.effect != "PreferNoSchedule" && !api::Tolerates(pod.tolerations, taint)) return &taint;
  return nullptr;
}

// What a node is taken to have that is cordoned; the pods of a DaemonSet tolerate it.
const api::Taint kCordoned{"node.kubernetes.io/unschedulable", "", "NoSchedule"};

// Resources that only say which device will do are not counted where devices are known.
bool Counted(const api::Node& node, const std::string& name) {
  return !(node.gpus.sharing.mode == api::GpuSharing::Mode::kMemory && api::QualifiesGpu(name));
}

// kube-scheduler stops at the first filter that fails, except that one filter names all its resources.
Rejection Filter(const NodeState& state, const api::PodSpec& pod, const Resources& wanted) {
  const api::Node& node = state.node;
  Rejection rejection{node.meta.name, {}, false};
  if (!pod.node_name.empty() && pod.node_name != node.meta.name) {
    rejection.reasons = {"node(s) didn't match the requested node name"};
  } else if (!node.ready || (node.unschedulable && !api::Tolerates(pod.tolerations, kCordoned))) {
    rejection.reasons = {"node(s) were unschedulable"};
  } else if (const api::Taint* taint = UntoleratedTaint(node, pod)) {
    rejection.reasons = {"node(s) had untolerated taint {" + taint->key + ": " + taint->value + "}"};
  } else if (!api::SelectorOf(pod.node_selector).Matches(node.meta.labels)) {
    rejection.reasons = {"node(s) didn't match Pod's node affinity/selector"};
  } else {
    for (const auto& [name, amount] : wanted) {
      if (amount.milli == 0 || Of(state.requested, name) + amount <= Of(node.allocatable, name)) continue;
      if (!Counted(node, name)) continue;
      rejection.reasons.push_back(name == "pods" ? "Too many pods" : "Insufficient " + name);
      rejection.preemption_might_help =
          rejection.preemption_might_help || amount <= Of(node.allocatable, name);
    }
  }
  return rejection;
}

// 0 to 100: the free share of cpu and memory after the pod, as NodeResourcesLeastAllocated counts it.
int64_t Score(const NodeState& state, const Resources& wanted) {
  int64_t score = 0;
  for (const char* name : {"cpu", "memory"}) {
    const int64_t capacity = Of(state.node.allocatable, name).milli;
    if (capacity <= 0) continue;
    // Pods without requests count as 100m and 200 MiB, or they would all land on one node.
    const int64_t least = std::string_view(name) == "cpu" ? 100 : int64_t{200} * 1024 * 1024 * 1000;
    const int64_t used = Of(state.requested, name).milli + std::max(Of(wanted, name).milli, least);
    score += used > capacity ? 0 : (capacity - used) / std::max<int64_t>(capacity / 100, 1);
  }
  return score / 2;
}

std::string CountedReasons(const std::map<std::string, int>& counts) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : counts) parts.push_back(std::to_string(count) + " " + reason);
  std::ranges::sort(parts);
  return Join(parts, ", ");
}

std::string Sentence(size_t nodes, const std::vector<Rejection>& rejections,
                     const std::string& prerequisite) {
  const std::string head = "0/" + std::to_string(nodes) + " nodes are available";
  if (nodes == 0) return "no nodes available to schedule pods";
  std::map<std::string, int> reasons, preemption;
  for (const Rejection& r : rejections) {
    for (const auto& reason : r.reasons) ++reasons[reason];
    ++preemption[r.preemption_might_help ? "No preemption victims found for incoming pod"
                                         : "Preemption is not helpful for scheduling"];
  }
  if (!prerequisite.empty())
    preemption = {{"Preemption is not helpful for scheduling", static_cast<int>(nodes)}};
  return head + ": " + (prerequisite.empty() ? CountedReasons(reasons) : prerequisite) +
         ". preemption: " + head + ": " + CountedReasons(preemption) + ".";
}

}  // namespace

void Assume(NodeState& node, const api::PodSpec& pod, const api::GpuShares& gpus) {
  std::set<std::string> init;
  for (const api::Container& container : pod.init_containers) init.insert(container.name);
  Assume(node.gpu_uses, node.node.gpus, gpus, init);
  api::Add(node.requested, api::PodRequests(pod));
  api::Add(node.requested, kOnePod);
}

Decision Schedule(const Snapshot& snapshot, const api::Pod& pod, const std::string& prerequisite,
                  const std::map<std::string, std::string>& conflicts) {
  Decision decision;
  if (!prerequisite.empty()) {
    decision.message = Sentence(snapshot.nodes.size(), {}, prerequisite);
    return decision;
  }
  Resources wanted = api::PodRequests(pod.spec);
  api::Add(wanted, kOnePod);
  const auto claims = api::GpuClaimsOf(pod);
  int64_t best = -1;
  for (const NodeState& state : snapshot.nodes) {
    Rejection rejection = Filter(state, pod.spec, wanted);
    if (const auto conflict = conflicts.find(state.node.meta.name);
        rejection.reasons.empty() && conflict != conflicts.end())
      rejection.reasons = {conflict->second};
    GpuChoice gpus;
    if (rejection.reasons.empty() && !claims.empty() && !state.node.gpus.devices.empty())
      gpus = ChooseGpus(state.node.gpus, state.gpu_uses, claims);
    if (!gpus.problem.empty()) rejection.reasons.push_back(gpus.problem);
    if (!rejection.reasons.empty()) {
      decision.rejections.push_back(std::move(rejection));
    } else if (const int64_t score = Score(state, wanted); score > best) {
      best = score;
      decision.node = state.node.meta.name;
      decision.gpus = std::move(gpus.shares);
    }
  }
  if (decision.node.empty()) decision.message = Sentence(snapshot.nodes.size(), decision.rejections, "");
  return decision;
}

}  // namespace tfemu::scheduler
