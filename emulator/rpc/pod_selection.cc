#include "emulator/rpc/pod_selection.h"

#include <algorithm>

#include "emulator/api/view.h"
#include "emulator/rpc/convert.h"

namespace tfemu::rpc {
namespace {

// A pod's owner's owner (Deployment, ReplicaSet, Pod), and one to spare.
constexpr int kMaxDepth = 4;

bool IsOver(const api::Object& workload) {
  return std::ranges::any_of(api::ConditionsOf(workload), [](const api::ConditionView& condition) {
    return condition.status == "True" &&
           (condition.type == "Succeeded" || condition.type == "Failed" || condition.type == "Complete");
  });
}

}  // namespace

Result<void> PodSelection::Begin(const v1::LogsRequest& request) {
  ns_ = request.ns();
  ASSIGN_OR_RETURN(selector_, api::ParseSelector(request.selector()));
  for (const auto& target : request.targets()) {
    const auto key = FromMessage(target);
    if (key.kind == "Pod") {
      pods_.insert(key.name);
      continue;
    }
    ASSIGN_OR_RETURN(const auto workload, registry_.Get(key));
    owner_uids_.insert(workload.uid());
    workloads_.push_back(key);
  }
  return {};
}

bool PodSelection::Contains(const api::Object& pod) const {
  if (pod.key().ns != ns_) return false;
  if (pods_.contains(pod.key().name)) return true;
  if (!selector_.empty() && selector_.Matches(api::LabelsOf(pod))) return true;
  return !owner_uids_.empty() && IsOwned(pod, 0);
}

bool PodSelection::IsOwned(const api::Object& object, int depth) const {
  const auto owner = api::ControllerOf(object);
  if (!owner || depth == kMaxDepth) return false;
  if (owner_uids_.contains(owner->uid)) return true;
  const auto parent = registry_.Get({owner->kind, object.key().ns, owner->name});
  return parent.ok() && parent.value().uid() == owner->uid && IsOwned(parent.value(), depth + 1);
}

bool PodSelection::Complete() const {
  if (!selector_.empty()) return false;
  return std::ranges::all_of(workloads_, [&](const api::ObjectKey& key) {
    const auto workload = registry_.Get(key);
    return !workload.ok() || !owner_uids_.contains(workload.value().uid()) || IsOver(workload.value());
  });
}

}  // namespace tfemu::rpc
