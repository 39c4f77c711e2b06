// What holds once everything is healed and nothing is left to do.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/pod.h"
#include "emulator/api/tfjob.h"
#include "tests/sim/checker.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {
namespace {

using Objects = std::map<api::ObjectKey, api::Object>;

void CheckOwners(const Objects& objects, Complaints& complaints) {
  std::set<std::string> uids;
  for (const auto& [key, object] : objects) uids.insert(object.uid());
  for (const auto& [key, object] : objects)
    for (const auto& owner : api::DecodeMeta(object).owner_references)
      if (!uids.contains(owner.uid))
        complaints.Add("nothing outlives its owner", ToString(key) + " has lost " + owner.name);
}

void CheckPods(const SimHost& host, Complaints& complaints) {
  const Objects& objects = host.disk().objects();
  for (const auto& [uid, pod] : host.runtime().pods()) {
    const auto object = objects.find({"Pod", pod.launch.ns, pod.launch.name});
    if (object == objects.end() || object->second.uid() != uid)
      complaints.Add("no pod is forgotten", pod.launch.name + " still has a sandbox, and no object");
    else if (object->second.As(api::DecodePod).finished())
      complaints.Add("no pod is forgotten", pod.launch.name + " has ended and still has a sandbox");
  }
  for (const auto& [key, object] : objects)
    if (object.terminating()) complaints.Add("nothing is stuck", ToString(key) + " is terminating");
  if (host.runtime().overlaps() > 0)
    complaints.Add("an attempt is started after the one before", std::to_string(host.runtime().overlaps()));
}

// Of a job that goes on; the counts of one that has ended are its last.
void CheckReplicaStatuses(const Objects& objects, const api::TFJob& job, Complaints& complaints) {
  std::map<std::string, api::ReplicaStatus> counted;
  for (const auto& [key, object] : objects) {
    if (key.kind != "Pod") continue;
    const api::Pod& pod = object.As(api::DecodePod);
    const auto& owners = pod.meta.owner_references;
    if (std::ranges::find(owners, job.meta.uid, &api::OwnerReference::uid) == owners.end()) continue;
    api::ReplicaStatus& status = counted[pod.meta.labels.at("training.kubeflow.org/replica-type")];
    status.active += pod.status.phase == api::PodPhase::kRunning;
    status.succeeded += pod.status.phase == api::PodPhase::kSucceeded;
    status.failed += pod.status.phase == api::PodPhase::kFailed;
  }
  for (const auto& [type, said] : job.status.replica_statuses) {
    std::string label = type;
    std::ranges::transform(label, label.begin(), [](unsigned char c) { return std::tolower(c); });
    if (!(said == counted[label]))
      complaints.Add("replicaStatuses count the pods", job.meta.name + " " + type + " says " +
                                                           std::to_string(said.active) + " active and has " +
                                                           std::to_string(counted[label].active));
  }
}

}  // namespace

void CheckQuiet(const SimHost& host, Complaints& complaints) {
  const Objects& objects = host.disk().objects();
  CheckOwners(objects, complaints);
  CheckPods(host, complaints);
  for (const auto& [key, object] : objects) {
    if (key.kind != "TFJob") continue;
    const api::TFJob& job = object.As(api::DecodeTFJob);
    if (!job.status.finished() && !job.run_policy.suspend) CheckReplicaStatuses(objects, job, complaints);
  }
}

}  // namespace tfemu::sim
