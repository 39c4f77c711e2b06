// The kubelet's part for one pod: which container to start, restart or stop, and the status that follows.
// Pure: what the runtime has reported comes in as a PodRun, the orders for it go out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/pod.h"
#include "emulator/base/executor.h"

namespace tfemu::controllers {

// What is known of one container's latest attempt.
struct ContainerRun {
  enum class State { kNone, kStarting, kRunning, kExited };
  State state = State::kNone;
  int attempt = 0;
  int exit_code = 0, signal = 0;
  bool oom_killed = false;
  std::string reason, message;  // of a start that failed
  int pid = 0;
  Instant started_at, finished_at;
  std::optional<Duration> back_off;                     // the wait after the last exit, once there was one
  std::optional<api::ContainerState> last_termination;  // of the attempt before this one
  bool term_sent = false;
  bool started = true, ready = true;  // as its probes say while it runs
  friend bool operator==(const ContainerRun&, const ContainerRun&) = default;
};

struct PodRun {
  enum class Sandbox { kNone, kStarting, kReady, kFailed, kStopping, kStopped };
  Sandbox sandbox = Sandbox::kNone;
  std::string reason, message;  // of a failed sandbox
  std::map<std::string, ContainerRun> containers;
  std::optional<Instant> kill_at;  // the pod is ending; what still runs then is killed
};

// Why the pod can't start yet, from the node's preparation (images, volumes); empty when it can.
struct Obstacle {
  std::string container;  // whose status shows it; "" for all
  std::string reason, message;
};

struct NodePodObservation {
  api::Pod pod;
  PodRun run;
  std::vector<Obstacle> obstacles;
  std::string address;  // the pod's, once given
  std::string host_address;
  std::map<std::string, std::string> image_ids;  // by container
  Instant now;
  int64_t time_scale = 1;  // waits of the cluster are divided by this
};

enum class PodOrder { kStartSandbox, kStartContainer, kTerminate, kStopSandbox, kRemove };

struct NodePodOrder {
  PodOrder order;
  std::string container;  // kStartContainer, kTerminate (SIGTERM)
  int attempt = 0;
  friend bool operator==(const NodePodOrder&, const NodePodOrder&) = default;
};

struct NodePodEvent {
  bool warning = false;
  std::string reason, message;
  // When it came to what is said; set where the status that shows it is written later, so that another
  // daemon may find the event and not the status.
  std::optional<Instant> occurred = {};
  friend bool operator==(const NodePodEvent&, const NodePodEvent&) = default;
};

struct NodePodPlan {
  std::vector<NodePodOrder> orders;
  std::vector<NodePodEvent> events;
  api::PodStatus status;
  std::optional<Instant> kill_at;  // what the run is to remember
  std::optional<Duration> requeue_after;
};

NodePodPlan ReconcileNodePod(const NodePodObservation& observed);

// The kubelet's CrashLoopBackOff: none after the first exit, then 10 s doubling to 5 min; it starts afresh
// after ten minutes of running.
Duration NextBackOff(std::optional<Duration> previous, Duration ran);

// The run's exit as a status shows it.
api::ContainerState Termination(const ContainerRun& run);

}  // namespace tfemu::controllers
