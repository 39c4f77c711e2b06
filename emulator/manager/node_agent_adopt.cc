// What a former daemon and the runtime leave, taken up.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/controllers/node_pod_status.h"
#include "emulator/manager/adoption.h"
#include "emulator/manager/lister.h"
#include "emulator/manager/node_agent.h"

namespace tfemu::manager {
namespace {

using controllers::ContainerRun;
using controllers::PodRun;
using runtime::KeptPod;
using runtime::PodEvent;

// The end of a grace period that a former daemon began; the stored time lacks its fraction of a second.
std::optional<Instant> KillAt(const api::Pod& pod, const PodRun& run, int64_t time_scale) {
  const auto told = [](const auto& entry) { return entry.second.term_sent; };
  if (!pod.meta.deletion_timestamp || std::ranges::none_of(run.containers, told)) return std::nullopt;
  const Duration grace = std::chrono::seconds(
      pod.meta.deletion_grace_period_seconds.value_or(pod.spec.termination_grace_period_seconds));
  const Instant asked{pod.meta.deletion_timestamp->ns - grace.count()};
  return asked + std::chrono::seconds(1) + controllers::Scaled(grace, time_scale);
}

}  // namespace

NodeAgent::Adopted NodeAgent::Adopt(const runtime::Kept& kept) {
  Adopted adopted;
  std::map<std::string, const KeptPod*> pods;
  for (const KeptPod& pod : kept.pods) pods[pod.uid] = &pod;
  std::map<std::string, std::vector<const PodEvent*>> events;
  for (const PodEvent& event : kept.events) events[event.uid].push_back(&event);
  for (const api::Pod& pod : ListAll(deps_.store, {"Pod", ""}, api::DecodePod)) {
    const auto found = pods.find(pod.meta.uid);
    const KeptPod* running = found == pods.end() ? nullptr : found->second;
    if (pod.spec.node_name.empty()) continue;
    if (!pod.finished() && !deps_.store.Get({"Node", "", pod.spec.node_name}).ok()) {
      // What the pod garbage collector does: whoever made the pod makes it again, elsewhere.
      Say(pod, true, "NodeNotFound", "node \"" + pod.spec.node_name + "\" is gone, and its pod with it");
      (void)deps_.registry.Delete(pod.key(), {.grace_period_seconds = 0}).ok();
      continue;
    }
    if (found != pods.end()) pods.erase(found);
    AdoptPod({pod, running, events[pod.meta.uid], kept.taken_over, deps_.executor.Now()});
    if (running == nullptr && !pod.finished()) ++(pod.status.pod_ip.empty() ? adopted.waiting : adopted.lost);
    if (running != nullptr && !pod.finished()) ++adopted.running;
  }
  for (const auto& [uid, pod] : pods) StopStranger(*pod);
  for (const PodEvent& event : kept.events) {
    receipts_.Owe(event.uid, event.sequence);
    const auto entry = entries_.find(event.uid);
    if (entry == entries_.end()) receipts_.Settle(event.uid);
  }
  return adopted;
}

void NodeAgent::AdoptPod(const AdoptionRequest& request) {
  const api::Pod& pod = request.pod;
  const Adoption adoption = AdoptRun(request);
  Entry& entry = EntryFor(pod);
  entry.run = adoption.run;
  for (const auto* list : {&pod.status.init_containers, &pod.status.containers})
    for (const api::ContainerStatus& status : *list)
      if (!status.image_id.empty()) entry.image_ids[status.name] = status.image_id;
  if (request.kept != nullptr) {
    entry.run.kill_at = KillAt(pod, entry.run, time_scale_);
    entry.sandbox_failed = request.kept->sandbox == KeptPod::Sandbox::kFailed;
    entry.address = request.kept->address;
    addresses_.Reserve(entry.address);
    entry.eci_start.emplace();  // that wait is over
    for (const auto& container : request.kept->containers) AdoptContainer(pod, entry, container);
    // A ConfigMap may have been stored whose change the former daemon did not live to pass on.
    UpdateFiles(pod, entry, [](const api::PodVolume&) { return true; });
  }
  for (const PodEvent* event : adoption.news)
    if (const auto said = EventOf(pod, *event)) deps_.events.RecordOnce(*said, event->at);
  queue_.Add(pod.key());
}

void NodeAgent::AdoptContainer(const api::Pod& pod, Entry& entry, const runtime::KeptContainer& container) {
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers})
    for (const api::Container& known : *list) {
      if (known.name != container.name) continue;
      if (container.state == runtime::KeptContainer::State::kRunning)
        ResumeProbes(pod, entry, known, container);  // postStart was the former daemon's
      if (entry.image_ids.contains(known.name)) continue;
      if (const auto image = deps_.images.Find(known.image); image.ok())
        entry.image_ids[known.name] = image.value().id;
    }
  const auto attached = gpus_.Attach(pod, container.name, Context(pod, entry).node_gpus, container.program);
  if (!attached.ok()) Say(pod, true, "Failed", "GPUs are not shown: " + attached.error().message);
  gpus_.OnRunning(pod.meta.uid, container.name, container.state == runtime::KeptContainer::State::kRunning);
}

// The status may be of an attempt before this one: then nothing is known yet.
void NodeAgent::ResumeProbes(const api::Pod& pod, const Entry& entry, const api::Container& container,
                             const runtime::KeptContainer& kept) {
  for (const auto* list : {&pod.status.init_containers, &pod.status.containers})
    for (const api::ContainerStatus& status : *list)
      if (status.name == kept.name && status.restart_count == kept.attempt &&
          status.state.type == api::ContainerState::Type::kRunning)
        return prober_.Resume(pod, container, entry.address, status, deps_.executor.Now() - kept.started_at);
  prober_.Start(pod, container, entry.address);
}

// A pod whose object was removed while nobody looked.
void NodeAgent::StopStranger(const KeptPod& pod) {
  Entry entry;
  entry.key = {"Pod", pod.ns, pod.name};
  entry.address = pod.address;
  entry.run.sandbox = PodRun::Sandbox::kStopping;
  entries_.insert_or_assign(pod.uid, std::move(entry));
  addresses_.Reserve(pod.address);
  deps_.runtime.StopPod(pod.uid);
}

}  // namespace tfemu::manager
