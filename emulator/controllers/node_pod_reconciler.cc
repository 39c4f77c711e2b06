#include "emulator/controllers/node_pod_reconciler.h"

#include <algorithm>

#include "emulator/controllers/node_pod_status.h"

namespace tfemu::controllers {
namespace {

using namespace std::chrono_literals;
using api::Container;
using Sandbox = PodRun::Sandbox;
using State = ContainerRun::State;

class Planner {
 public:
  explicit Planner(const NodePodObservation& o) : o_(o) {
    plan_.kill_at = o.run.kill_at;
    plan_.status = DeriveStatus(o);
  }

  NodePodPlan Make() {
    if (o_.pod.meta.deletion_timestamp) End();
    else if (PastDeadline()) Expire();
    else if (o_.pod.finished()) StopSandbox();
    else if (Over(o_)) Finish();
    else if (!o_.obstacles.empty()) Retry(1s);
    else Run();
    return std::move(plan_);
  }

 private:
  const ContainerRun* RunOf(const std::string& name) const {
    const auto it = o_.run.containers.find(name);
    return it == o_.run.containers.end() ? nullptr : &it->second;
  }

  bool PastDeadline() {
    const auto& seconds = o_.pod.spec.active_deadline_seconds;
    if (!seconds || !o_.pod.status.start_time || o_.pod.finished()) return false;
    const Instant end = *o_.pod.status.start_time + Scaled(std::chrono::seconds(*seconds), o_.time_scale);
    if (o_.now >= end) return true;
    Retry(end - o_.now);
    return false;
  }

  void Expire() {
    plan_.status.phase = api::PodPhase::kFailed;
    plan_.status.reason = "DeadlineExceeded";
    plan_.status.message = "Pod was active on the node longer than the specified deadline";
    const Duration allowed =
        Scaled(std::chrono::seconds(*o_.pod.spec.active_deadline_seconds), o_.time_scale);
    plan_.events.push_back(
        {true, "DeadlineExceeded", plan_.status.message, *o_.pod.status.start_time + allowed});
    StopSandbox();
  }

  bool Live(const ContainerRun& run) const {
    return run.state == State::kRunning || run.state == State::kStarting;
  }

  void Retry(Duration after) {
    if (!plan_.requeue_after || after < *plan_.requeue_after) plan_.requeue_after = after;
  }

  void Order(PodOrder order, const std::string& container = "", int attempt = 0) {
    plan_.orders.push_back({order, container, attempt});
  }

  void StopSandbox() {
    if (o_.run.sandbox == Sandbox::kReady || o_.run.sandbox == Sandbox::kStarting ||
        o_.run.sandbox == Sandbox::kFailed)
      Order(PodOrder::kStopSandbox);
  }

  // SIGTERM to every container, then to the sidecars, SIGKILL to all of the pod when the grace is over; then
  // the object goes.
  void End() {
    if (!TerminateAll()) return Remove();
    KillAfter(
        o_.pod.meta.deletion_grace_period_seconds.value_or(o_.pod.spec.termination_grace_period_seconds));
  }

  // Sidecars do not keep a pod going whose containers have ended.
  void Finish() {
    if (TerminateAll()) KillAfter(o_.pod.spec.termination_grace_period_seconds);
    else StopSandbox();
  }

  // Sidecars go one by one, the last first, when nothing else runs. False when nothing runs at all.
  bool TerminateAll() {
    bool live = false;
    for (const auto* list : {&o_.pod.spec.init_containers, &o_.pod.spec.containers})
      for (const Container& c : *list)
        if (!c.sidecar && Terminate(c)) live = true;
    if (live) return true;
    const auto& sidecars = o_.pod.spec.init_containers;
    return std::any_of(sidecars.rbegin(), sidecars.rend(), [&](const Container& c) { return Terminate(c); });
  }

  // False when it does not run.
  bool Terminate(const Container& c) {
    const ContainerRun* run = RunOf(c.name);
    if (run == nullptr || !Live(*run)) return false;
    if (run->term_sent) return true;
    plan_.events.push_back({false, "Killing", "Stopping container " + c.name});
    Order(PodOrder::kTerminate, c.name);
    return true;
  }

  void KillAfter(int64_t grace) {
    if (!plan_.kill_at) plan_.kill_at = o_.now + Scaled(std::chrono::seconds(grace), o_.time_scale);
    // A later delete with a shorter grace counts from now.
    plan_.kill_at = std::min(*plan_.kill_at, o_.now + Scaled(std::chrono::seconds(grace), o_.time_scale));
    if (o_.now >= *plan_.kill_at) StopSandbox();
    else Retry(*plan_.kill_at - o_.now);
  }

  void Remove() {
    if (o_.run.sandbox == Sandbox::kNone || o_.run.sandbox == Sandbox::kStopped) Order(PodOrder::kRemove);
    else StopSandbox();
  }

  void Run() {
    switch (o_.run.sandbox) {
      case Sandbox::kNone:
      case Sandbox::kStopped: Order(PodOrder::kStartSandbox); break;
      case Sandbox::kFailed: Order(PodOrder::kStopSandbox); return;  // and afresh, once it is gone
      case Sandbox::kStopping: return;
      case Sandbox::kStarting:
      case Sandbox::kReady: break;
    }
    // Once a container was started, sidecars are restarted beside it and hold nothing up.
    const bool initialized = AnyContainerStarted(o_);
    for (const Container& c : o_.pod.spec.init_containers)
      if (!Advance(c, true) && !initialized) return;
    for (const Container& c : o_.pod.spec.containers) Advance(c, false);
  }

  // Starts or restarts the container where that is due; true when it is an init container that is done, or a
  // sidecar that has started.
  bool Advance(const Container& c, bool init) {
    const ContainerRun* run = RunOf(c.name);
    if (run == nullptr || run->state == State::kNone) {
      Start(c, run == nullptr ? 0 : run->attempt);
      return false;
    }
    if (run->state != State::kExited) return c.sidecar && Started(*run);
    if (!WillRestart(o_.pod, c, *run, init)) return run->exit_code == 0;
    const Instant due = run->finished_at + Scaled(run->back_off.value_or(Duration(0)), o_.time_scale);
    if (o_.now >= due) {
      Start(c, run->attempt + 1);
    } else {
      if (!ShowsBackOff(c.name))
        plan_.events.push_back({true, "BackOff",
                                "Back-off restarting failed container " + c.name + " in pod " +
                                    o_.pod.meta.name + "_" + o_.pod.meta.ns + "(" + o_.pod.meta.uid + ")",
                                run->finished_at});
      Retry(due - o_.now);
    }
    return false;
  }

  bool ShowsBackOff(const std::string& name) const {
    for (const auto* list : {&o_.pod.status.init_containers, &o_.pod.status.containers})
      for (const api::ContainerStatus& status : *list)
        if (status.name == name) return status.state.reason == "CrashLoopBackOff";
    return false;
  }

  void Start(const Container& c, int attempt) {
    plan_.events.push_back(
        {false, "Pulled", "Container image \"" + c.image + "\" already present on machine"});
    plan_.events.push_back({false, "Created", "Created container: " + c.name});
    Order(PodOrder::kStartContainer, c.name, attempt);
  }

  const NodePodObservation& o_;
  NodePodPlan plan_;
};

}  // namespace

NodePodPlan ReconcileNodePod(const NodePodObservation& observed) { return Planner(observed).Make(); }

Duration NextBackOff(std::optional<Duration> previous, Duration ran) {
  if (!previous || ran >= 10min) return 0s;
  if (*previous == Duration(0)) return 10s;
  return std::min<Duration>(*previous * 2, 300s);
}

}  // namespace tfemu::controllers
