#include "emulator/manager/scheduler_loop.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "emulator/api/node.h"
#include "emulator/api/volume.h"
#include "emulator/manager/lister.h"

namespace tfemu::manager {

SchedulerLoop::SchedulerLoop(Executor& executor, store::Store& store, Registry& registry,
                             EventRecorder& events)
    : executor_(executor), store_(store), registry_(registry), events_(events) {}

void SchedulerLoop::OnWatch(const store::WatchEvent& event) {
  const std::string& kind = event.object.key().kind;
  if (kind == "Node" || kind == "PersistentVolumeClaim") return Wake();
  if (kind != "Pod") return;
  // A pod that has its node and goes on changes nothing for the others.
  const api::Pod& pod = event.object.As(api::DecodePod);
  if (event.type == store::WatchType::kDeleted || pod.spec.node_name.empty() || pod.finished()) Wake();
}

void SchedulerLoop::Wake() {
  if (woken_) return;
  woken_ = true;
  executor_.Post([this, alive = alive_] {
    if (!*alive) return;
    woken_ = false;
    Pass();
  });
}

void SchedulerLoop::Pass() {
  std::vector<api::Pod> waiting;
  scheduler::Snapshot snapshot;
  for (const auto& node : ListAll(store_, {"Node", ""}, api::DecodeNode))
    snapshot.nodes.push_back({node, {}, {}});
  for (auto& pod : ListAll(store_, {"Pod", ""}, api::DecodePod)) {
    if (pod.finished()) continue;
    if (pod.spec.node_name.empty()) {
      if (!pod.meta.deletion_timestamp) waiting.push_back(std::move(pod));
      continue;
    }
    const auto node =
        std::ranges::find(snapshot.nodes, pod.spec.node_name, [](const auto& n) { return n.node.meta.name; });
    if (node != snapshot.nodes.end()) scheduler::Assume(*node, pod.spec, api::GpuSharesOf(pod.meta));
  }
  const auto order = [](const api::Pod& p) {
    return std::tuple(p.meta.creation_timestamp, p.meta.resource_version);
  };
  std::ranges::sort(waiting, [&](const api::Pod& a, const api::Pod& b) { return order(a) < order(b); });
  for (const api::Pod& pod : waiting) {
    const auto decision = scheduler::Schedule(snapshot, pod, Prerequisite(pod));
    if (decision.node.empty()) {
      ReportWaiting(pod, decision.message);
      continue;
    }
    const auto node =
        std::ranges::find(snapshot.nodes, decision.node, [](const auto& n) { return n.node.meta.name; });
    scheduler::Assume(*node, pod.spec, decision.gpus);
    Bind(pod, decision);
  }
}

void SchedulerLoop::Bind(const api::Pod& pod, const scheduler::Decision& decision) {
  const std::string& node = decision.node;
  api::Labels annotations;
  if (!decision.gpus.empty()) annotations[api::kGpuAnnotation] = api::EncodeGpuShares(decision.gpus);
  const auto bound =
      registry_.Patch(pod.key(), pod.meta.uid, "", api::BindPatch(pod, node, annotations, executor_.Now()));
  if (!bound.ok()) return;
  events_.Record({api::ReferenceTo(bound.value()), false, "Scheduled",
                  "Successfully assigned " + pod.meta.ns + "/" + pod.meta.name + " to " + node,
                  "default-scheduler", ""});
}

void SchedulerLoop::ReportWaiting(const api::Pod& pod, const std::string& message) {
  const api::PodCondition* said = pod.status.Find("PodScheduled");
  if (said != nullptr && !said->status && said->message == message) return;
  const auto patched =
      registry_.Patch(pod.key(), pod.meta.uid, "/status", api::UnschedulablePatch(message, executor_.Now()));
  if (patched.ok())
    events_.Record(
        {api::ReferenceTo(patched.value()), true, "FailedScheduling", message, "default-scheduler", ""});
}

std::string SchedulerLoop::Prerequisite(const api::Pod& pod) const {
  for (const api::PodVolume& volume : pod.spec.volumes) {
    if (volume.type != api::PodVolume::Type::kClaim) continue;
    const auto claim = store_.Get({"PersistentVolumeClaim", pod.meta.ns, volume.claim_name});
    if (!claim.ok()) return "persistentvolumeclaim \"" + volume.claim_name + "\" not found";
    if (claim.value().terminating())
      return "persistentvolumeclaim \"" + volume.claim_name + "\" is being deleted";
    const std::string phase = api::DecodePersistentVolumeClaim(claim.value()).phase;
    if (phase == "Lost")
      return "persistentvolumeclaim \"" + volume.claim_name + "\" bound to non-existent persistentvolume";
    if (phase != "Bound") return "pod has unbound immediate PersistentVolumeClaims";
  }
  return "";
}

}  // namespace tfemu::manager
