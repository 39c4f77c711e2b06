#include "emulator/controllers/node_pod_status.h"

#include <algorithm>

namespace tfemu::controllers {
namespace {

using api::Container;
using api::ContainerState;
using api::ContainerStatus;
using api::Pod;
using api::PodPhase;
using State = ContainerRun::State;

const ContainerRun kNoRun;

const ContainerRun& RunOf(const NodePodObservation& o, const Container& c) {
  const auto it = o.run.containers.find(c.name);
  return it == o.run.containers.end() ? kNoRun : it->second;
}

bool InitDone(const NodePodObservation& o) {
  if (AnyContainerStarted(o)) return true;
  return std::ranges::all_of(o.pod.spec.init_containers, [&](const Container& c) {
    const ContainerRun& run = RunOf(o, c);
    return c.sidecar ? Started(run) : run.state == State::kExited && run.exit_code == 0;
  });
}

bool SidecarRuns(const NodePodObservation& o) {
  return std::ranges::any_of(o.pod.spec.init_containers, [&](const Container& c) {
    const State state = RunOf(o, c).state;
    return c.sidecar && (state == State::kRunning || state == State::kStarting);
  });
}

bool InitGaveUp(const NodePodObservation& o) {
  return std::ranges::any_of(o.pod.spec.init_containers, [&](const Container& c) {
    const ContainerRun& run = RunOf(o, c);
    return run.state == State::kExited && run.exit_code != 0 && !WillRestart(o.pod, c, run, true);
  });
}

std::string Seconds(Duration d) { return std::to_string(d.count() / 1'000'000'000) + "s"; }

ContainerState Waiting(std::string reason, std::string message = "") {
  return {ContainerState::Type::kWaiting, std::move(reason), std::move(message)};
}

ContainerState WaitingToStart(const NodePodObservation& o, const Container& c, bool init) {
  for (const Obstacle& obstacle : o.obstacles)
    if (obstacle.container.empty() || obstacle.container == c.name)
      return Waiting(obstacle.reason, obstacle.message);
  if (o.run.sandbox == PodRun::Sandbox::kFailed) return Waiting("ContainerCreating");
  return Waiting(!init && !o.pod.spec.init_containers.empty() ? "PodInitializing" : "ContainerCreating");
}

std::string ContainerId(const NodePodObservation& o, const Container& c, int attempt) {
  return "tfemu://" + o.pod.meta.uid + "/" + c.name + "/" + std::to_string(attempt);
}

ContainerStatus Status(const NodePodObservation& o, const Container& c, bool init) {
  const ContainerRun& run = RunOf(o, c);
  ContainerStatus status{c.name, c.image};
  if (const auto id = o.image_ids.find(c.name); id != o.image_ids.end()) status.image_id = id->second;
  if (run.state != State::kNone) status.container_id = ContainerId(o, c, run.attempt);
  status.restart_count = run.attempt;
  status.last_state = run.last_termination;
  if (status.last_state) status.last_state->container_id = ContainerId(o, c, run.attempt - 1);
  switch (run.state) {
    case State::kNone:
    case State::kStarting: status.state = WaitingToStart(o, c, init); break;
    case State::kRunning:
      status.state = {ContainerState::Type::kRunning, "", "", 0, 0, run.started_at};
      status.started = run.started;
      status.ready = run.started && run.ready;
      break;
    case State::kExited:
      status.state = Termination(run);
      status.state.container_id = status.container_id;
      if (!o.pod.meta.deletion_timestamp && WillRestart(o.pod, c, run, init) && !(c.sidecar && Over(o))) {
        status.last_state = status.state;
        status.state = Waiting("CrashLoopBackOff", "back-off " + Seconds(run.back_off.value_or(Duration(0))) +
                                                       " restarting failed container=" + c.name +
                                                       " pod=" + o.pod.meta.name + "_" + o.pod.meta.ns + "(" +
                                                       o.pod.meta.uid + ")");
      }
      break;
  }
  if (init && !c.sidecar) status.ready = run.state == State::kExited && run.exit_code == 0;
  return status;
}

PodPhase Phase(const NodePodObservation& o) {
  if (o.pod.finished()) return o.pod.status.phase;  // the end is final
  if (InitGaveUp(o)) return SidecarRuns(o) ? PodPhase::kPending : PodPhase::kFailed;
  if (!InitDone(o)) return PodPhase::kPending;
  bool started = false, all_zero = true;
  for (const Container& c : o.pod.spec.containers) {
    const ContainerRun& run = RunOf(o, c);
    started = started || run.state == State::kRunning || run.state == State::kExited || run.attempt > 0;
    all_zero = all_zero && run.exit_code == 0;
  }
  if (Over(o) && SidecarRuns(o)) return PodPhase::kRunning;
  if (Over(o)) return all_zero ? PodPhase::kSucceeded : PodPhase::kFailed;
  return started ? PodPhase::kRunning : PodPhase::kPending;
}

void AddCondition(const NodePodObservation& o, api::PodStatus& status, const std::string& type, bool value,
                  std::string reason) {
  const api::PodCondition* old = o.pod.status.Find(type);
  const bool same = old != nullptr && old->status == value;
  status.conditions.push_back(
      {type, value, value ? "" : std::move(reason), "", same ? old->last_transition : o.now});
}

}  // namespace

Duration Scaled(Duration wait, int64_t time_scale) { return wait / std::max<int64_t>(time_scale, 1); }

bool Started(const ContainerRun& run) { return run.state == State::kRunning && run.started; }

bool AnyContainerStarted(const NodePodObservation& o) {
  return std::ranges::any_of(o.pod.spec.containers, [&](const Container& c) {
    const ContainerRun& run = RunOf(o, c);
    return run.state != State::kNone || run.attempt > 0;
  });
}

bool WillRestart(const Pod& pod, const Container& container, const ContainerRun& run, bool init) {
  if (container.sidecar) return true;
  switch (pod.spec.restart_policy) {
    case api::RestartPolicy::kAlways: return !init || run.exit_code != 0;
    case api::RestartPolicy::kOnFailure: return run.exit_code != 0;
    case api::RestartPolicy::kNever: return false;
  }
  return false;
}

bool Over(const NodePodObservation& o) {
  if (InitGaveUp(o)) return true;
  return InitDone(o) && std::ranges::all_of(o.pod.spec.containers, [&](const Container& c) {
           const ContainerRun& run = RunOf(o, c);
           return run.state == State::kExited &&
                  (o.pod.meta.deletion_timestamp || !WillRestart(o.pod, c, run, false));
         });
}

api::PodStatus DeriveStatus(const NodePodObservation& o) {
  api::PodStatus status = o.pod.status;
  status.phase = Phase(o);
  status.pod_ip = o.address;
  status.host_ip = o.host_address;
  if (!status.start_time) status.start_time = o.now;
  status.conditions.clear();
  status.init_containers.clear();
  status.containers.clear();
  for (const Container& c : o.pod.spec.init_containers) status.init_containers.push_back(Status(o, c, true));
  for (const Container& c : o.pod.spec.containers) status.containers.push_back(Status(o, c, false));
  const bool done = status.phase == PodPhase::kSucceeded || status.phase == PodPhase::kFailed;
  const bool ready = !done && !status.containers.empty() &&
                     std::ranges::all_of(status.containers, &ContainerStatus::ready) &&
                     std::ranges::all_of(status.init_containers, &ContainerStatus::ready);
  const std::string why = status.phase == PodPhase::kSucceeded ? "PodCompleted"
                          : done                               ? "PodFailed"
                                                               : "ContainersNotReady";
  AddCondition(o, status, "Initialized", InitDone(o), "ContainersNotInitialized");
  AddCondition(o, status, "Ready", ready, why);
  AddCondition(o, status, "ContainersReady", ready, why);
  AddCondition(o, status, "PodScheduled", true, "");
  return status;
}

ContainerState Termination(const ContainerRun& run) {
  ContainerState state{ContainerState::Type::kTerminated,
                       run.reason,
                       run.message,
                       run.exit_code,
                       0,
                       run.started_at,
                       run.finished_at};
  if (run.oom_killed) state.reason = "OOMKilled";
  else if (state.reason.empty()) state.reason = run.exit_code == 0 ? "Completed" : "Error";
  return state;
}

}  // namespace tfemu::controllers
