// The status of a pod, derived from its spec and what the runtime reported.
#pragma once

#include "emulator/controllers/node_pod_reconciler.h"

namespace tfemu::controllers {

// It runs, and its startup probe (if any) has succeeded.
bool Started(const ContainerRun& run);
// The init containers were done once: whatever becomes of sidecars after that holds no container up.
bool AnyContainerStarted(const NodePodObservation& o);
// True when the pod's restart policy, or being a sidecar, starts the container again after this exit.
bool WillRestart(const api::Pod& pod, const api::Container& container, const ContainerRun& run, bool init);
// Containers that are done and stay done: every one exited, none to be restarted, or an init container gave
// up. Sidecars may still run.
bool Over(const NodePodObservation& o);
api::PodStatus DeriveStatus(const NodePodObservation& o);
Duration Scaled(Duration wait, int64_t time_scale);

}  // namespace tfemu::controllers
