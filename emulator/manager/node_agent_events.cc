// What the runtime reports, taken into the pods' runs.
#include <nlohmann/json.hpp>

#include "emulator/manager/lister.h"
#include "emulator/manager/node_agent.h"

namespace tfemu::manager {
namespace {

using controllers::ContainerRun;
using controllers::PodRun;
using runtime::PodEvent;

constexpr Duration kSandboxRetry = std::chrono::seconds(1);

}  // namespace

void NodeAgent::OnPodEvent(const PodEvent& event) {
  const auto it = entries_.find(event.uid);
  if (it == entries_.end()) return;
  Entry& entry = it->second;
  const auto object = deps_.store.Get(entry.key);
  const bool ours = object.ok() && object.value().uid() == event.uid;
  const auto say = [&](bool warning, const char* reason, const std::string& message) {
    if (ours) Say(api::DecodePod(object.value()), warning, reason, message);
  };
  switch (event.type) {
    case PodEvent::Type::kSandboxReady: entry.run.sandbox = PodRun::Sandbox::kReady; break;
    case PodEvent::Type::kSandboxFailed:
      entry.run.sandbox = PodRun::Sandbox::kFailed;
      entry.sandbox_failed = true;
      for (auto& [name, run] : entry.run.containers)
        if (run.state == ContainerRun::State::kStarting) run.state = ContainerRun::State::kNone;
      entry.run.reason = event.reason;
      entry.run.message = event.message;
      say(true, event.reason == "FailedMount" ? "FailedMount" : "FailedCreatePodSandBox", event.message);
      break;
    case PodEvent::Type::kContainerStarted: {
      ContainerRun& run = entry.run.containers[event.container];
      run.state = ContainerRun::State::kRunning;
      run.pid = event.pid;
      run.started_at = event.at;
      gpus_.OnRunning(event.uid, event.container, true);
      say(false, "Started", "Started container " + event.container);
      if (ours) OnContainerRunning(object.value().As(api::DecodePod), entry, event.container);
      break;
    }
    case PodEvent::Type::kContainerStartFailed:
      if (entry.sandbox_failed) return;
      say(true, "Failed", "Error: " + event.message);
      OnExit(entry, event);
      break;
    case PodEvent::Type::kContainerExited: OnExit(entry, event); break;
    case PodEvent::Type::kVolumeUsage:
      if (ours) OnVolumeUsage(api::DecodePod(object.value()), entry, event);
      return;
    case PodEvent::Type::kPodStopped:
      entry.run.sandbox = PodRun::Sandbox::kStopped;
      gpus_.Remove(event.uid);
      addresses_.Give(entry.address);
      entry.address.clear();
      if (!ours) {
        entries_.erase(it);
        return;
      }
      if (std::exchange(entry.sandbox_failed, false)) return queue_.AddAfter(entry.key, kSandboxRetry);
      break;
  }
  queue_.Add(entry.key);
}

void NodeAgent::OnExit(Entry& entry, const PodEvent& event) {
  prober_.Stop(event.uid, event.container);
  gpus_.OnRunning(event.uid, event.container, false);
  ContainerRun& run = entry.run.containers[event.container];
  const bool started = run.state == ContainerRun::State::kRunning;
  run.state = ContainerRun::State::kExited;
  run.exit_code = event.exit_code;
  run.signal = event.signal;
  run.oom_killed = event.oom_killed;
  run.reason = event.reason;
  run.message = event.message;
  if (!started) run.started_at = event.at;
  run.finished_at = event.at;
  run.back_off = controllers::NextBackOff(run.back_off, run.finished_at - run.started_at);
}

std::map<api::ObjectKey, std::vector<int>> NodeAgent::RunningPids() const {
  std::map<api::ObjectKey, std::vector<int>> pids;
  for (const auto& [uid, entry] : entries_)
    for (const auto& [name, run] : entry.run.containers)
      if (run.state == ContainerRun::State::kRunning && run.pid > 0) pids[entry.key].push_back(run.pid);
  return pids;
}

// As a kubelet after a reboot: the containers can no longer be located, and the restart policy decides.
void NodeAgent::AdoptLost() {
  for (const api::Pod& pod : ListAll(deps_.store, {"Pod", ""}, api::DecodePod)) {
    if (pod.spec.node_name.empty() || pod.finished() || entries_.contains(pod.meta.uid)) continue;
    if (!deps_.store.Get({"Node", "", pod.spec.node_name}).ok()) {
      // What the pod garbage collector does: whoever made the pod makes it again, elsewhere.
      Say(pod, true, "NodeNotFound", "node \"" + pod.spec.node_name + "\" is gone, and its pod with it");
      (void)deps_.registry.Delete(pod.key(), {.grace_period_seconds = 0}).ok();
      continue;
    }
    Entry& entry = EntryFor(pod);
    for (const auto* list : {&pod.status.init_containers, &pod.status.containers}) {
      for (const api::ContainerStatus& status : *list) {
        if (status.container_id.empty()) continue;
        ContainerRun& run = entry.run.containers[status.name];
        run.state = ContainerRun::State::kExited;
        run.attempt = status.restart_count;
        const bool over = status.state.type == api::ContainerState::Type::kTerminated;
        run.exit_code = over ? status.state.exit_code : 137;
        run.reason = over ? status.state.reason : "ContainerStatusUnknown";
        run.message =
            over ? status.state.message : "The container could not be located when the pod was terminated";
        run.started_at = status.state.started_at;
        run.finished_at = over ? status.state.finished_at : deps_.executor.Now();
      }
    }
    queue_.Add(pod.key());
  }
}

void NodeAgent::OnRuntimeLost(const std::string& why) {
  for (auto& [uid, entry] : entries_) {
    if (entry.run.sandbox == PodRun::Sandbox::kStopped) continue;
    for (auto& [name, run] : entry.run.containers) {
      if (run.state != ContainerRun::State::kRunning && run.state != ContainerRun::State::kStarting) continue;
      run.state = ContainerRun::State::kExited;
      run.exit_code = 137;
      run.reason = "ContainerStatusUnknown";
      run.message = why;
      run.finished_at = deps_.executor.Now();
    }
    entry.run.sandbox = PodRun::Sandbox::kStopped;
    if (!entry.address.empty()) addresses_.Give(entry.address);
    entry.address.clear();
    queue_.Add(entry.key);
  }
}

}  // namespace tfemu::manager
