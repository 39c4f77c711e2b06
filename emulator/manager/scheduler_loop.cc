#include "emulator/manager/scheduler_loop.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "emulator/api/node.h"
#include "emulator/api/volume.h"
#include "emulator/manager/lister.h"
#include "emulator/manager/pod_admission.h"

namespace tfemu::manager {
namespace {

constexpr Duration kRetry = std::chrono::seconds(1);

scheduler::NodeState* FindNode(scheduler::Snapshot& snapshot, const std::string& name) {
  const auto node = std::ranges::find(snapshot.nodes, name, [](const auto& n) { return n.node.meta.name; });
  return node == snapshot.nodes.end() ? nullptr : &*node;
}

}  // namespace

SchedulerLoop::SchedulerLoop(Executor& executor, store::Store& store, Registry& registry,
                             EventRecorder& events, EciPlacer eci)
    : executor_(executor), store_(store), registry_(registry), events_(events), eci_(std::move(eci)) {}

void SchedulerLoop::OnWatch(const store::WatchEvent& event) {
  const std::string& kind = event.object.key().kind;
  if (kind == "Node" || kind.starts_with("PersistentVolume") || kind == "StorageClass") return Wake();
  if (kind != "Pod") return;
  // A pod that has its node and goes on changes nothing for the others.
  const api::Pod& pod = event.object.As(api::DecodePod);
  if (event.type == store::WatchType::kAdded || event.type == store::WatchType::kDeleted ||
      pod.spec.node_name.empty() || pod.finished())
    Wake();
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

bool SchedulerLoop::Written(const Result<api::Object>& written) {
  if (!written.ok() && written.error().reason != Reason::kNotFound)
    executor_.PostAt(executor_.Now() + kRetry, [this, alive = alive_] {
      if (*alive) Wake();
    });
  return written.ok();
}

void SchedulerLoop::Pass() {
  std::vector<api::Pod> waiting, bound;
  scheduler::Snapshot snapshot;
  eci_.Forget();
  for (const auto& node : ListAll(store_, {"Node", ""}, api::DecodeNode))
    snapshot.nodes.push_back({node, {}, {}});
  for (auto& pod : ListAll(store_, {"Pod", ""}, api::DecodePod)) {
    if (pod.finished()) continue;
    if (pod.spec.node_name.empty()) {
      if (!pod.meta.deletion_timestamp) waiting.push_back(std::move(pod));
      continue;
    }
    scheduler::NodeState* node = FindNode(snapshot, pod.spec.node_name);
    if (node != nullptr && !pod.meta.deletion_timestamp && !Admitted(pod, node->node)) {
      bound.push_back(std::move(pod));
      continue;
    }
    eci_.Take(pod.meta);
    if (node != nullptr) scheduler::Assume(*node, pod.spec, api::GpuSharesOf(pod.meta));
  }
  for (const api::Pod& pod : bound) PlaceOnItsNode(snapshot, pod);
  const auto order = [](const api::Pod& p) {
    return std::tuple(p.meta.creation_timestamp, p.meta.resource_version);
  };
  std::ranges::sort(waiting, [&](const api::Pod& a, const api::Pod& b) { return order(a) < order(b); });
  for (const api::Pod& pod : waiting) Place(snapshot, pod);
}

void SchedulerLoop::Place(scheduler::Snapshot& snapshot, const api::Pod& pod) {
  const VolumePlacement volumes = PlaceVolumes(store_, pod, snapshot.nodes);
  const std::string& prerequisite = volumes.prerequisite;
  if (prerequisite.empty() && eci_.Wants(pod, false)) return PlaceOnEci(snapshot, pod);
  auto decision = scheduler::Schedule(snapshot, pod, prerequisite, volumes.conflicts);
  if (!decision.node.empty() && WaitForVolumes(volumes, decision.node)) {
    scheduler::Assume(*FindNode(snapshot, decision.node), pod.spec, decision.gpus);
    if (!volumes.failure.empty()) ReportWaiting(pod, volumes.failure);
    return;
  }
  if (!decision.node.empty()) return Bind(snapshot, pod, {decision.node, std::move(decision.gpus), {}});
  if (prerequisite.empty() && eci_.Wants(pod, true)) return PlaceOnEci(snapshot, pod);
  ReportWaiting(pod, decision.message);
}

void SchedulerLoop::PlaceOnItsNode(scheduler::Snapshot& snapshot, const api::Pod& pod) {
  scheduler::NodeState& node = *FindNode(snapshot, pod.spec.node_name);
  if (api::IsEciNode(node.node.meta)) {
    scheduler::Snapshot alone{{node}};
    PlaceOnEci(alone, pod);
    node = std::move(alone.nodes.front());
    return;
  }
  const Admission admission = Admit(node, pod);
  if (!admission.refusal.empty())
    return Fail(pod, "UnexpectedAdmissionError", admission.refusal, pod.spec.node_name);
  const api::Json given = {
      {"metadata", {{"annotations", {{api::kGpuAnnotation, api::EncodeGpuShares(admission.gpus)}}}}}};
  if (Written(registry_.Patch(pod.key(), pod.meta.uid, "", given)))
    scheduler::Assume(node, pod.spec, admission.gpus);
}

void SchedulerLoop::PlaceOnEci(scheduler::Snapshot& snapshot, const api::Pod& pod) {
  auto placement = eci_.Place(snapshot, pod);
  if (!placement.node.empty() && WaitForVolumes(PlaceVolumes(store_, pod, snapshot.nodes), placement.node))
    return;
  if (!placement.node.empty())
    return Bind(snapshot, pod, {placement.node, std::move(placement.gpus), std::move(placement.annotations)});
  const Instant now = executor_.Now(), gives_up = eci_.GivesUpAt(pod);
  if (now >= gives_up) return Fail(pod, placement.reason, placement.message, "eci");
  executor_.PostAt(gives_up, [this, alive = alive_] {
    if (*alive) Wake();
  });
  const api::PodCondition* said = pod.status.Find("ContainerInstanceCreated");
  if (said != nullptr && said->message == placement.message) return;
  const auto patched = registry_.Patch(pod.key(), pod.meta.uid, "/status",
                                       api::NoInstancePatch(placement.reason, placement.message, now));
  if (Written(patched))
    events_.Record(
        {api::ReferenceTo(patched.value()), true, placement.reason, placement.message, "kubelet", "eci"});
}

void SchedulerLoop::Bind(scheduler::Snapshot& snapshot, const api::Pod& pod, const Binding& binding) {
  scheduler::NodeState& node = *FindNode(snapshot, binding.node);
  WarnOfNccl(pod, node, binding.gpus);
  scheduler::Assume(node, pod.spec, binding.gpus);
  api::Labels annotations = binding.annotations;
  if (!binding.gpus.empty()) annotations[api::kGpuAnnotation] = api::EncodeGpuShares(binding.gpus);
  const auto bound = registry_.Patch(pod.key(), pod.meta.uid, "",
                                     api::BindPatch(pod, binding.node, annotations, executor_.Now()));
  if (!Written(bound)) return;
  events_.Record({api::ReferenceTo(bound.value()), false, "Scheduled",
                  "Successfully assigned " + pod.meta.ns + "/" + pod.meta.name + " to " + binding.node,
                  "default-scheduler", ""});
}

// Two ranks of one job on one device end with "Duplicate GPU detected" (NVIDIA/nccl#418): said before they
// try.
void SchedulerLoop::WarnOfNccl(const api::Pod& pod, const scheduler::NodeState& node,
                               const api::GpuShares& gpus) {
  const auto job = pod.meta.labels.find("training.kubeflow.org/job-name");
  if (job == pod.meta.labels.end() || gpus.empty()) return;
  for (const auto& other : ListAll(store_, {"Pod", pod.meta.ns}, api::DecodePod)) {
    const auto same = other.meta.labels.find("training.kubeflow.org/job-name");
    if (other.finished() || other.spec.node_name != node.node.meta.name || same == other.meta.labels.end() ||
        same->second != job->second)
      continue;
    const std::string device = scheduler::SharedDevice(gpus, api::GpuSharesOf(other.meta));
    if (device.empty()) continue;
    const api::ObjectReference self{"v1",          "Pod",        pod.meta.ns,
                                    pod.meta.name, pod.meta.uid, pod.meta.resource_version};
    return events_.Record({self, true, "NCCLNeedsOwnGPU",
                           pod.meta.name + " and " + other.meta.name + " of one job share " + device +
                               ": NCCL refuses two ranks on one device (\"Duplicate GPU detected\"). "
                               "Parameter servers work, and so "
                               "does MultiWorkerMirroredStrategy with CommunicationImplementation.RING",
                           "default-scheduler", ""});
  }
}

void SchedulerLoop::Fail(const api::Pod& pod, const std::string& reason, const std::string& message,
                         const std::string& node) {
  const auto failed = registry_.Patch(pod.key(), pod.meta.uid, "/status", api::FailedPatch(reason, message));
  if (Written(failed))
    events_.Record({api::ReferenceTo(failed.value()), true, reason, message, "kubelet", node});
}

void SchedulerLoop::ReportWaiting(const api::Pod& pod, const std::string& message) {
  const api::PodCondition* said = pod.status.Find("PodScheduled");
  if (said != nullptr && !said->status && said->message == message) return;
  const auto patched =
      registry_.Patch(pod.key(), pod.meta.uid, "/status", api::UnschedulablePatch(message, executor_.Now()));
  if (Written(patched))
    events_.Record(
        {api::ReferenceTo(patched.value()), true, "FailedScheduling", message, "default-scheduler", ""});
}

// Claims that wait for their first pod are told its node; the pod is bound when they are.
bool SchedulerLoop::WaitForVolumes(const VolumePlacement& volumes, const std::string& node) {
  for (const api::Object& claim : volumes.waiting)
    if (SelectedNode(claim).empty())
      (void)Written(
          registry_.Patch(claim.key(), claim.uid(), "", api::AnnotationPatch(api::kSelectedNode, node)));
  return !volumes.waiting.empty();
}

}  // namespace tfemu::manager
