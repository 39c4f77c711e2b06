#include "runtime/sim_runtime.h"

#include <algorithm>
#include <csignal>

namespace tfemu::runtime {
namespace {

using State = KeptContainer::State;
using Sandbox = KeptPod::Sandbox;
using Type = PodEvent::Type;

}  // namespace

void SimRuntime::Later(Duration delay, std::function<void()> task) {
  executor_.PostAt(executor_.Now() + delay, [this, alive = alive_, life = life_, task = std::move(task)] {
    if (*alive && life == life_) task();
  });
}

void SimRuntime::Deliver(std::function<void()> tell) {
  const Duration delay = directions_.event_delay ? directions_.event_delay() : Duration(0);
  last_delivery_ = std::max(last_delivery_, executor_.Now() + delay);
  ++in_flight_;
  executor_.PostAt(last_delivery_, [this, alive = alive_, connection = connection_, tell = std::move(tell)] {
    if (!*alive || connection != connection_) return;
    --in_flight_;
    tell();
  });
}

void SimRuntime::Report(PodEvent event) {
  event.at = executor_.Now();
  event = ledger_.Add(std::move(event));
  if (directions_.witness) directions_.witness(event);
  Deliver([this, event = std::move(event)] {
    if (sink_) sink_(event);
  });
}

void SimRuntime::LoseDaemon() {
  ++connection_;
  in_flight_ = 0;
  sink_ = nullptr;
}

void SimRuntime::Fail(std::function<void()> told) {
  ++life_;
  pods_.clear();
  ledger_ = {};
  running_ = false;
  fresh_ = true;
  Deliver(std::move(told));
}

void SimRuntime::Restart() { running_ = true; }

Kept SimRuntime::TakeOver() {
  ++connection_;
  in_flight_ = 0;
  if (std::exchange(fresh_, false)) return {};
  return ledger_.Snapshot();
}

const PodLaunch* SimRuntime::Launched(const std::string& uid) const {
  const auto pod = pods_.find(uid);
  return pod == pods_.end() ? nullptr : &pod->second.launch;
}

void SimRuntime::StartPod(const PodLaunch& pod) {
  if (!running_) return;
  const auto known = pods_.find(pod.uid);
  if (known != pods_.end() && known->second.sandbox != Sandbox::kFailed) return;  // asked twice
  ledger_.OnStartPod(pod);
  const SandboxScript script = directions_.sandbox ? directions_.sandbox(pod) : SandboxScript{};
  pods_.insert_or_assign(pod.uid, Pod{pod, Sandbox::kStarting, script, {}});
  if (script.ready_after == Duration(0)) return SandboxDone(pod.uid);
  Later(script.ready_after, [this, uid = pod.uid] { SandboxDone(uid); });
}

void SimRuntime::SandboxDone(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.sandbox != Sandbox::kStarting) return;
  Pod& pod = found->second;
  const bool failed = !pod.script.error.empty();
  pod.sandbox = failed ? Sandbox::kFailed : Sandbox::kReady;
  PodEvent event{failed ? Type::kSandboxFailed : Type::kSandboxReady, uid};
  if (failed) event.reason = "FailedCreatePodSandBox";
  event.message = pod.script.error;
  Report(std::move(event));
  for (auto& [name, container] : pod.containers) Launch(uid, container);
}

void SimRuntime::StartContainer(const std::string& uid, const ContainerLaunch& launch) {
  const auto pod = pods_.find(uid);
  if (!running_ || pod == pods_.end()) return;
  const auto known = pod->second.containers.find(launch.name);
  if (known != pod->second.containers.end()) {
    if (known->second.launch.attempt >= launch.attempt) return;  // asked twice
    if (known->second.state != State::kExited) {
      ++overlaps_;
      return;
    }
  }
  ledger_.OnStartContainer(uid, launch);
  Container& container = pod->second.containers[launch.name] = {launch, State::kStarting, {}};
  if (pod->second.sandbox != Sandbox::kStarting) Launch(uid, container);
}

void SimRuntime::Launch(const std::string& uid, Container& container) {
  const Pod& pod = pods_.at(uid);
  if (pod.sandbox != Sandbox::kReady) return FailStart(uid, container, "the pod's sandbox is not ready");
  container.script = director_(pod.launch, container.launch);
  if (!container.script.start_error.empty()) return FailStart(uid, container, container.script.start_error);
  ++starts_[uid + "/" + container.launch.name + "/" + std::to_string(container.launch.attempt)];
  if (!container.script.start_after) return;
  Later(*container.script.start_after, [this, uid, name = container.launch.name,
                                        attempt = container.launch.attempt] { Begin(uid, name, attempt); });
}

SimRuntime::Container* SimRuntime::Find(const std::string& uid, const std::string& container, int attempt) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return nullptr;
  const auto found = pod->second.containers.find(container);
  if (found == pod->second.containers.end() || found->second.launch.attempt != attempt) return nullptr;
  return &found->second;
}

void SimRuntime::Begin(const std::string& uid, const std::string& name, int attempt) {
  Container* container = Find(uid, name, attempt);
  if (container == nullptr || container->state != State::kStarting) return;
  container->state = State::kRunning;
  PodEvent event{Type::kContainerStarted, uid, name, attempt};
  event.pid = 1;
  Report(std::move(event));
  if (!container->script.run_for) return;
  Later(*container->script.run_for, [this, uid, name, attempt, code = container->script.exit_code] {
    Container* running = Find(uid, name, attempt);
    if (running != nullptr && running->state == State::kRunning) End(uid, *running, code);
  });
}

void SimRuntime::End(const std::string& uid, Container& container, int exit_code) {
  container.state = State::kExited;
  PodEvent event{Type::kContainerExited, uid, container.launch.name, container.launch.attempt};
  event.exit_code = exit_code;
  event.signal = exit_code > 128 ? exit_code - 128 : 0;
  Report(std::move(event));
}

void SimRuntime::FailStart(const std::string& uid, Container& container, const std::string& why) {
  container.state = State::kExited;
  PodEvent event{Type::kContainerStartFailed, uid, container.launch.name, container.launch.attempt};
  event.exit_code = 128;
  event.reason = "StartError";
  event.message = why;
  Report(std::move(event));
}

void SimRuntime::Exit(const std::string& uid, const std::string& container, int exit_code) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const auto found = pod->second.containers.find(container);
  if (found != pod->second.containers.end() && found->second.state == State::kRunning)
    End(uid, found->second, exit_code);
}

void SimRuntime::Use(const std::string& uid, const std::string& volume, uint64_t used, uint64_t size) {
  PodEvent event{Type::kVolumeUsage, uid};
  event.volume = volume;
  event.used_bytes = used;
  event.size_bytes = size;
  Report(std::move(event));
}

// The first process of a namespace hears SIGTERM only once its program handles it.
void SimRuntime::SignalContainer(const std::string& uid, const std::string& name, int signal) {
  ledger_.OnSignal(uid, name, signal);
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const auto found = pod->second.containers.find(name);
  if (found == pod->second.containers.end() || found->second.state == State::kExited) return;
  Container& container = found->second;
  if (signal == SIGTERM && (container.script.ignores_sigterm || container.state != State::kRunning)) return;
  End(uid, container, 128 + signal);
}

void SimRuntime::StopPod(const std::string& uid) {
  if (!running_) return;
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return Report({Type::kPodStopped, uid});
  if (pod->second.sandbox == Sandbox::kStopping) return;
  ledger_.OnStopPod(uid);
  pod->second.sandbox = Sandbox::kStopping;
  for (auto& [name, container] : pod->second.containers)
    if (container.state != State::kExited) End(uid, container, 128 + SIGKILL);
  const auto gone = [this, uid] {
    pods_.erase(uid);
    Report({Type::kPodStopped, uid});
  };
  if (pod->second.script.gone_after == Duration(0)) return gone();
  Later(pod->second.script.gone_after, gone);
}

}  // namespace tfemu::runtime
