#include "emulator/controllers/replica_set_reconciler.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace tfemu::controllers {
namespace {

using api::Pod;

api::Event Event(const ReplicaSetObservation& o, bool warning, std::string reason, std::string message) {
  return {o.self, warning, std::move(reason), std::move(message), "replicaset-controller", ""};
}

// Those a user misses least come first: not placed, not running, not ready, then the youngest.
std::vector<const Pod*> DeletionOrder(std::vector<const Pod*> pods) {
  const auto rank = [](const Pod* pod) {
    return std::tuple(!pod->spec.node_name.empty(), pod->status.phase == api::PodPhase::kRunning,
                      pod->ready(), -pod->meta.creation_timestamp.ns, pod->meta.name);
  };
  std::ranges::sort(pods, [&](const Pod* a, const Pod* b) { return rank(a) < rank(b); });
  return pods;
}

}  // namespace

Plan ReconcileReplicaSet(const ReplicaSetObservation& observed) {
  Plan plan;
  const api::ReplicaSet& set = observed.set;
  std::vector<const Pod*> active;
  for (const Pod& pod : observed.pods)
    if (!pod.finished() && !pod.meta.deletion_timestamp) active.push_back(&pod);

  const int missing = set.meta.deletion_timestamp ? 0 : set.replicas - static_cast<int>(active.size());
  for (int i = 0; i < missing; ++i)
    plan.actions.push_back(CreateObject{api::Object(api::MakeReplicaSetPod(set)),
                                        {Event(observed, false, "SuccessfulCreate", "Created pod: {name}"),
                                         Event(observed, true, "FailedCreate", "Error creating")}});
  const auto order = DeletionOrder(active);
  for (int i = 0; i < -missing; ++i)
    plan.actions.push_back(DeleteObject{order[static_cast<size_t>(i)]->key(),
                                        order[static_cast<size_t>(i)]->meta.uid,
                                        {Event(observed, false, "SuccessfulDelete",
                                               "Deleted pod: " + order[static_cast<size_t>(i)]->meta.name),
                                         Event(observed, true, "FailedDelete", "Error deleting")}});

  api::ReplicaSet next = set;
  next.observed_generation = set.meta.generation;
  next.status_replicas = static_cast<int>(active.size());
  next.ready_replicas = next.available_replicas =
      static_cast<int>(std::ranges::count_if(active, &Pod::ready));
  if (api::EncodeReplicaSetStatus(next) != api::EncodeReplicaSetStatus(set))
    plan.actions.push_back(PatchObject{{"ReplicaSet", set.meta.ns, set.meta.name},
                                       set.meta.uid,
                                       "/status",
                                       api::Object(api::EncodeReplicaSetStatus(next))});
  return plan;
}

}  // namespace tfemu::controllers
