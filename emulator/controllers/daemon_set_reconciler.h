// One pod of a DaemonSet on every node that suits it (kube-controller-manager's daemonset controller).
#pragma once

#include <vector>

#include "emulator/api/daemon_set.h"
#include "emulator/api/node.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct DaemonSetObservation {
  api::DaemonSet set;
  api::ObjectReference self;
  std::vector<api::Node> nodes;
  std::vector<api::Pod> pods;  // owned by the set
  Instant now;
  int64_t time_scale = 1;
};

Plan ReconcileDaemonSet(const DaemonSetObservation& observed);

}  // namespace tfemu::controllers
