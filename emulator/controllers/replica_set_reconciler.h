// Keeps as many pods of a ReplicaSet as it asks for (kube-controller-manager's replica set controller).
#pragma once

#include <vector>

#include "emulator/api/pod.h"
#include "emulator/api/workload.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct ReplicaSetObservation {
  api::ReplicaSet set;
  api::ObjectReference self;
  std::vector<api::Pod> pods;  // owned by the set
};

Plan ReconcileReplicaSet(const ReplicaSetObservation& observed);

}  // namespace tfemu::controllers
