#include "emulator/manager/adoption.h"

#include <algorithm>
#include <cstdlib>

namespace tfemu::manager {
namespace {

using api::ContainerState;
using controllers::ContainerRun;
using controllers::PodRun;
using runtime::KeptContainer;
using runtime::PodEvent;
using State = ContainerRun::State;

// The wait that a status tells of: "back-off 20s restarting failed ...".
std::optional<Duration> ToldBackOff(const std::string& message) {
  constexpr std::string_view kWord = "back-off ";
  if (!message.starts_with(kWord)) return std::nullopt;
  return std::chrono::seconds(std::atoi(message.c_str() + kWord.size()));
}

// The wait after the exit before this attempt, as if each attempt had been a short one; the kubelet itself
// forgets it when it is restarted.
std::optional<Duration> BackOffBefore(int attempt, const std::optional<ContainerState>& last) {
  if (attempt == 0) return std::nullopt;
  std::optional<Duration> wait = Duration(0);
  const bool long_run = last && last->finished_at - last->started_at >= std::chrono::minutes(10);
  for (int exits = 1; !long_run && exits < std::min(attempt, 10); ++exits)
    wait = controllers::NextBackOff(wait, Duration(0));
  return wait;
}

void TakeExit(ContainerRun& run, const ContainerState& state) {
  run.state = State::kExited;
  run.exit_code = state.exit_code;
  run.oom_killed = state.reason == "OOMKilled";
  const bool plain = state.reason == "Completed" || state.reason == "Error" || run.oom_killed;
  run.reason = plain ? "" : state.reason;
  run.message = state.message;
  run.started_at = state.started_at;
  run.finished_at = state.finished_at;
}

ContainerRun FromStatus(const api::ContainerStatus& status) {
  ContainerRun run;
  run.attempt = status.restart_count;
  run.last_termination = status.last_state;
  run.back_off = BackOffBefore(run.attempt, status.last_state);
  switch (status.state.type) {
    case ContainerState::Type::kTerminated:
      TakeExit(run, status.state);
      run.back_off = controllers::NextBackOff(run.back_off, run.finished_at - run.started_at);
      break;
    case ContainerState::Type::kRunning:
      run.state = State::kRunning;
      run.started_at = status.state.started_at;
      break;
    case ContainerState::Type::kWaiting:
      run.state = State::kStarting;
      if (status.state.reason != "CrashLoopBackOff" || !status.last_state) break;
      TakeExit(run, *status.last_state);
      run.last_termination.reset();
      run.back_off = ToldBackOff(status.state.message);
      break;
  }
  return run;
}

PodRun FromStatus(const api::PodStatus& status) {
  PodRun run;
  for (const auto* list : {&status.init_containers, &status.containers})
    for (const api::ContainerStatus& container : *list)
      if (!container.container_id.empty()) run.containers[container.name] = FromStatus(container);
  return run;
}

void TakeExit(ContainerRun& run, const PodEvent& event) {
  const bool started = run.state == State::kRunning;
  run.state = State::kExited;
  run.exit_code = event.exit_code;
  run.signal = event.signal;
  run.oom_killed = event.oom_killed;
  run.reason = event.reason;
  run.message = event.message;
  if (!started) run.started_at = event.at;
  run.finished_at = event.at;
  run.back_off = controllers::NextBackOff(run.back_off, run.finished_at - run.started_at);
}

// False when the run shows it already.
bool Apply(PodRun& pod, const PodEvent& event) {
  if (event.type == PodEvent::Type::kPodStopped) pod.sandbox = PodRun::Sandbox::kStopped;
  if (event.type == PodEvent::Type::kSandboxFailed) pod.sandbox = PodRun::Sandbox::kFailed;
  if (event.container.empty()) return event.type == PodEvent::Type::kSandboxFailed;
  if (event.type == PodEvent::Type::kContainerStartFailed && pod.sandbox == PodRun::Sandbox::kFailed)
    return false;
  ContainerRun& run = pod.containers[event.container];
  if (event.attempt < run.attempt) return false;
  if (event.attempt > run.attempt) {
    ContainerRun next;
    next.attempt = event.attempt;
    next.back_off = run.back_off;
    if (run.state == State::kExited) next.last_termination = controllers::Termination(run);
    run = next;
  }
  if (run.state == State::kExited) return false;
  if (event.type != PodEvent::Type::kContainerStarted) {
    TakeExit(run, event);
    return true;
  }
  if (run.state == State::kRunning) return false;
  run.state = State::kRunning;
  run.started_at = event.at;
  return true;
}

// The runtime knows best; what it does not tell is carried over from what was known.
ContainerRun FromKept(const KeptContainer& kept, const ContainerRun* known) {
  ContainerRun run;
  if (known != nullptr && known->attempt == kept.attempt) run = *known;
  else run.back_off = BackOffBefore(kept.attempt, std::nullopt);
  if (known != nullptr && known->attempt < kept.attempt && known->state == State::kExited) {
    run.last_termination = controllers::Termination(*known);
    run.back_off = known->back_off;
  }
  run.attempt = kept.attempt;
  run.pid = kept.pid;
  run.term_sent = kept.term_sent;
  run.started_at = kept.started_at;
  switch (kept.state) {
    case KeptContainer::State::kStarting: run.state = State::kStarting; break;
    case KeptContainer::State::kRunning: run.state = State::kRunning; break;
    case KeptContainer::State::kExited: {
      const bool counted = run.state == State::kExited;
      const auto back_off = run.back_off;
      run.state = State::kRunning;
      TakeExit(run, {.type = PodEvent::Type::kContainerExited,
                     .exit_code = kept.exit_code,
                     .signal = kept.signal,
                     .oom_killed = kept.oom_killed,
                     .reason = kept.reason,
                     .message = kept.message,
                     .at = kept.finished_at});
      if (counted) run.back_off = back_off;
      break;
    }
  }
  return run;
}

PodRun::Sandbox FromKept(runtime::KeptPod::Sandbox sandbox) {
  switch (sandbox) {
    case runtime::KeptPod::Sandbox::kStarting: return PodRun::Sandbox::kStarting;
    case runtime::KeptPod::Sandbox::kReady: return PodRun::Sandbox::kReady;
    case runtime::KeptPod::Sandbox::kFailed: return PodRun::Sandbox::kFailed;
    case runtime::KeptPod::Sandbox::kStopping: return PodRun::Sandbox::kStopping;
  }
  return PodRun::Sandbox::kNone;
}

// As a kubelet after a reboot: the container can no longer be located, and the restart policy decides.
void Lose(ContainerRun& run, Instant now) {
  if (run.state == State::kStarting) run.started_at = now;
  run.state = State::kExited;
  run.exit_code = 137;
  run.reason = "ContainerStatusUnknown";
  run.message = "The container could not be located when the pod was terminated";
  run.finished_at = now;
}

void Overlay(PodRun& run, const runtime::KeptPod& kept, Instant now) {
  run.sandbox = FromKept(kept.sandbox);
  run.reason = kept.reason;
  run.message = kept.message;
  std::map<std::string, ContainerRun> known;
  known.swap(run.containers);
  for (const KeptContainer& container : kept.containers) {
    if (run.sandbox == PodRun::Sandbox::kFailed) break;  // nothing was tried in it
    const auto before = known.find(container.name);
    run.containers[container.name] = FromKept(container, before == known.end() ? nullptr : &before->second);
    if (before != known.end()) known.erase(before);
  }
  // What is known to run was in an earlier sandbox, of a runtime that is gone, as was what has ended. What
  // was to start had its order from the former daemon, and the order never arrived.
  for (auto& [name, container] : known) {
    if (container.state == State::kRunning) Lose(container, now);
    else if (container.state != State::kExited) container.state = State::kNone;
    run.containers[name] = container;
  }
}

}  // namespace

Adoption AdoptRun(const AdoptionRequest& request) {
  Adoption adoption{FromStatus(request.pod.status), {}};
  PodRun& run = adoption.run;
  for (const PodEvent* event : request.events)
    if (Apply(run, *event)) adoption.news.push_back(event);
  if (request.kept != nullptr) {
    Overlay(run, *request.kept, request.now);
    return adoption;
  }
  for (auto& [name, container] : run.containers) {
    if (container.state == State::kStarting && request.taken_over) container.state = State::kNone;
    else if (container.state == State::kStarting || container.state == State::kRunning)
      Lose(container, request.now);
  }
  return adoption;
}

}  // namespace tfemu::manager
