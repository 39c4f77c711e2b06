// What the runtime reports, taken into the pods' runs.
#include <nlohmann/json.hpp>

#include "emulator/manager/node_agent.h"

namespace tfemu::manager {
namespace {

using controllers::ContainerRun;
using controllers::PodRun;
using runtime::PodEvent;

constexpr Duration kSandboxRetry = std::chrono::seconds(1);

}  // namespace

void NodeAgent::OnPodEvent(const PodEvent& event) {
  receipts_.Owe(event.uid, event.sequence);
  const auto it = entries_.find(event.uid);
  if (it == entries_.end()) return receipts_.Settle(event.uid);
  Entry& entry = it->second;
  const auto object = deps_.store.Get(entry.key);
  const bool ours = object.ok() && object.value().uid() == event.uid;
  if (!ours) receipts_.Settle(event.uid);
  const bool not_tried = event.type == PodEvent::Type::kContainerStartFailed && entry.sandbox_failed;
  if (ours && !not_tried)
    if (const auto said = EventOf(object.value().As(api::DecodePod), event)) deps_.events.Record(*said);
  switch (event.type) {
    case PodEvent::Type::kSandboxReady: entry.run.sandbox = PodRun::Sandbox::kReady; break;
    case PodEvent::Type::kSandboxFailed:
      entry.run.sandbox = PodRun::Sandbox::kFailed;
      entry.sandbox_failed = true;
      for (auto& [name, run] : entry.run.containers)
        if (run.state == ContainerRun::State::kStarting) run.state = ContainerRun::State::kNone;
      entry.run.reason = event.reason;
      entry.run.message = event.message;
      break;
    case PodEvent::Type::kContainerStarted: {
      ContainerRun& run = entry.run.containers[event.container];
      run.state = ContainerRun::State::kRunning;
      run.pid = event.pid;
      run.started_at = event.at;
      gpus_.OnRunning(event.uid, event.container, true);
      if (ours) OnContainerRunning(object.value().As(api::DecodePod), entry, event.container);
      break;
    }
    case PodEvent::Type::kContainerStartFailed:
      if (!entry.sandbox_failed) OnExit(entry, event);
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

std::optional<api::Event> NodeAgent::EventOf(const api::Pod& pod, const PodEvent& event) {
  switch (event.type) {
    case PodEvent::Type::kSandboxFailed:
      return Said(pod, true, event.reason == "FailedMount" ? "FailedMount" : "FailedCreatePodSandBox",
                  event.message);
    case PodEvent::Type::kContainerStarted:
      return Said(pod, false, "Started", "Started container " + event.container);
    case PodEvent::Type::kContainerStartFailed: return Said(pod, true, "Failed", "Error: " + event.message);
    case PodEvent::Type::kSandboxReady:
    case PodEvent::Type::kContainerExited:
    case PodEvent::Type::kVolumeUsage:
    case PodEvent::Type::kPodStopped: break;
  }
  return std::nullopt;
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

void NodeAgent::OnRuntimeLost(const std::string& why) {
  receipts_.Reset();
  for (auto& [uid, entry] : entries_) {
    if (entry.run.sandbox == PodRun::Sandbox::kStopped) continue;
    for (auto& [name, run] : entry.run.containers) {
      if (run.state != ContainerRun::State::kRunning && run.state != ContainerRun::State::kStarting) continue;
      run.finished_at = deps_.executor.Now();
      if (run.state == ContainerRun::State::kStarting) run.started_at = run.finished_at;
      run.state = ContainerRun::State::kExited;
      run.exit_code = 137;
      run.reason = "ContainerStatusUnknown";
      run.message = why;
      gpus_.OnRunning(uid, name, false);
      prober_.Stop(uid, name);
    }
    entry.run.sandbox = PodRun::Sandbox::kStopped;
    if (!entry.address.empty()) addresses_.Give(entry.address);
    entry.address.clear();
    queue_.Add(entry.key);
  }
  std::erase_if(entries_, [this](const auto& item) {  // nobody will tell that these have stopped
    const auto object = deps_.store.Get(item.second.key);
    return !object.ok() || object.value().uid() != item.first;
  });
}

void NodeAgent::OnRuntimeBack() {
  for (auto& [uid, entry] : entries_) {
    PodRun::Sandbox& sandbox = entry.run.sandbox;
    if (sandbox == PodRun::Sandbox::kNone || sandbox == PodRun::Sandbox::kStopped) continue;
    sandbox = PodRun::Sandbox::kStopped;
    for (auto& [name, run] : entry.run.containers)
      if (run.state == ContainerRun::State::kStarting) run.state = ContainerRun::State::kNone;
    if (!entry.address.empty()) addresses_.Give(std::exchange(entry.address, ""));
    queue_.Add(entry.key);
  }
}

}  // namespace tfemu::manager
