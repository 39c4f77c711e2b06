// The status of a pod, derived from its spec and what the runtime reported.
#pragma once

#include "emulator/controllers/node_pod_reconciler.h"

namespace tfemu::controllers {

// True when the pod's restart policy starts the container again after this exit.
bool WillRestart(const api::Pod& pod, const ContainerRun& run, bool init);
// Containers that are done and stay done: every one exited, none to be restarted, or an init container gave
// up.
bool Over(const NodePodObservation& o);
api::PodStatus DeriveStatus(const NodePodObservation& o);
Duration Scaled(Duration wait, int64_t time_scale);

}  // namespace tfemu::controllers
