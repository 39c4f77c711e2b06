// A pod's run as a new daemon finds it: from the stored status, from what the runtime still has, and from the
// events that the former daemon did not get to store. Pure.
#pragma once

#include <string>
#include <vector>

#include "emulator/controllers/node_pod_reconciler.h"
#include "runtime/runtime.h"

namespace tfemu::manager {

struct AdoptionRequest {
  const api::Pod& pod;
  const runtime::KeptPod* kept = nullptr;        // null: the runtime has nothing of it
  std::vector<const runtime::PodEvent*> events;  // of this pod, not acknowledged, oldest first
  bool taken_over = false;  // else a container that was about to start may have run, and is lost
  Instant now;
};

struct Adoption {
  controllers::PodRun run;
  std::vector<const runtime::PodEvent*> news;  // those of the events that the status does not show yet
};
Adoption AdoptRun(const AdoptionRequest& request);

}  // namespace tfemu::manager
