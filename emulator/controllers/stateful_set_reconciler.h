// Keeps a StatefulSet's pods: each with its name, one after the other (kube-controller-manager's statefulset
// controller).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/api/pod.h"
#include "emulator/api/stateful_set.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct StatefulSetObservation {
  api::StatefulSet set;
  api::ObjectReference self;
  std::vector<api::Pod> pods;                      // owned by the set
  std::vector<api::ControllerRevision> revisions;  // owned by the set
  std::map<std::string, std::string> claims;       // uids by name, of those in its namespace
};

Plan ReconcileStatefulSet(const StatefulSetObservation& observed);

}  // namespace tfemu::controllers
