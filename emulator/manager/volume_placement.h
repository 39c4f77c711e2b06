// What the claims of a pod ask of the scheduler: to be there and bound, a node their volumes can be used on,
// and no other pod where only one may have them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/api/pod.h"
#include "emulator/store/store.h"
#include "scheduler/scheduler.h"

namespace tfemu::manager {

struct VolumePlacement {
  std::string prerequisite;                      // what keeps the pod from every node, or ""
  std::map<std::string, std::string> conflicts;  // node -> why not that one
  std::string failure;               // why a claim in `waiting` will get no volume on any node, or ""
  std::vector<api::Object> waiting;  // claims that are bound once the pod's node is known
};

VolumePlacement PlaceVolumes(const store::Store& store, const api::Pod& pod,
                             const std::vector<scheduler::NodeState>& nodes);

// The node that such a claim was given already, or "".
std::string SelectedNode(const api::Object& claim);

}  // namespace tfemu::manager
