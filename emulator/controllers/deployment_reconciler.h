// Rolls a Deployment's template out through ReplicaSets (kube-controller-manager's deployment controller).
#pragma once

#include <vector>

#include "emulator/api/workload.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct DeploymentObservation {
  api::Deployment deployment;
  api::ObjectReference self;
  std::vector<api::ReplicaSet> sets;  // owned by the deployment
  Instant now;
};

Plan ReconcileDeployment(const DeploymentObservation& observed);

}  // namespace tfemu::controllers
