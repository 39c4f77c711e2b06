#include "emulator/controllers/deployment_reconciler.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace tfemu::controllers {
namespace {

using api::Deployment;
using api::ReplicaSet;

class Rollout {
 public:
  explicit Rollout(const DeploymentObservation& o)
      : o_(o), hash_(api::PodTemplateHash(o.deployment.pod_template)) {
    for (const ReplicaSet& set : o_.sets) {
      if (set.meta.name == d().meta.name + "-" + hash_) current_ = &set;
      else old_.push_back(&set);
      revision_ = std::max(revision_, api::Revision(set.meta));
    }
    std::ranges::sort(
        old_, {}, [](const ReplicaSet* set) { return std::pair(api::Revision(set->meta), set->meta.name); });
  }

  Plan Make() {
    if (current_ == nullptr) CreateCurrent();
    else if (!d().recreate) Scale(*current_, CurrentTarget());
    else if (OldPods() == 0) Scale(*current_, d().replicas);
    if (d().recreate) {
      for (const ReplicaSet* set : old_) Scale(*set, 0);
    } else {
      ShrinkOld();
    }
    if (current_ != nullptr && revision_ > api::Revision(current_->meta)) Promote(*current_);
    DropHistory();
    WriteStatus();
    return std::move(plan_);
  }

 private:
  const Deployment& d() const { return o_.deployment; }
  int Surge() const { return d().max_surge.Of(d().replicas, true); }
  int Unavailable() const {
    const int n = d().max_unavailable.Of(d().replicas, false);
    return n == 0 && Surge() == 0 ? 1 : n;
  }

  int OldPods() const {
    int pods = 0;
    for (const ReplicaSet* set : old_) pods += set->status_replicas;
    return pods;
  }
  int OldWanted() const {
    int wanted = 0;
    for (const ReplicaSet* set : old_) wanted += set->replicas;
    return wanted;
  }

  int CurrentTarget() const {
    const int have = current_ == nullptr ? 0 : current_->replicas;
    if (old_.empty() || have > d().replicas) return d().replicas;
    const int room = d().replicas + Surge() - (have + OldWanted());
    return std::min(d().replicas, have + std::max(room, 0));
  }

  void CreateCurrent() {
    if (d().recreate && OldPods() > 0) return;  // first they go, then the new ones come
    const int replicas = d().recreate ? d().replicas : CurrentTarget();
    const api::Object set(api::MakeReplicaSet(d(), replicas, ++revision_));
    plan_.actions.push_back(
        CreateObject{set, {{}, Event(true, "ReplicaSetCreateError", "Failed to create new replica set")}});
    plan_.actions.push_back(EmitEvent{
        Event(false, "ScalingReplicaSet",
              "Scaled up replica set " + set.key().name + " from 0 to " + std::to_string(replicas))});
    Annotate(revision_);
  }

  // A template that was rolled out before comes back: it is the newest revision now.
  void Promote(const ReplicaSet& set) {
    plan_.actions.push_back(PatchObject{{"ReplicaSet", set.meta.ns, set.meta.name},
                                        set.meta.uid,
                                        "",
                                        api::Object(api::RevisionPatch(revision_ + 1, -1))});
    Annotate(revision_ + 1);
  }

  void Annotate(int64_t revision) {
    if (api::Revision(d().meta) != revision)
      plan_.actions.push_back(
          PatchObject{Key(), d().meta.uid, "", api::Object(api::RevisionPatch(revision, -1))});
  }

  void Scale(const ReplicaSet& set, int replicas) {
    if (set.replicas == replicas) return;
    const bool up = replicas > set.replicas;
    plan_.actions.push_back(PatchObject{{"ReplicaSet", set.meta.ns, set.meta.name},
                                        set.meta.uid,
                                        "",
                                        api::Object(api::ReplicasPatch(replicas))});
    plan_.actions.push_back(
        EmitEvent{Event(false, "ScalingReplicaSet",
                        std::string(up ? "Scaled up" : "Scaled down") + " replica set " + set.meta.name +
                            " from " + std::to_string(set.replicas) + " to " + std::to_string(replicas))});
  }

  // Old pods that are not available go first; of the others, no more than keeps the minimum available.
  void ShrinkOld() {
    const int current_wanted = current_ == nullptr ? 0 : current_->replicas;
    const int current_missing = current_ == nullptr ? 0 : current_->replicas - current_->available_replicas;
    int spare = current_wanted + OldWanted() - (d().replicas - Unavailable()) - std::max(current_missing, 0);
    for (const bool unhealthy : {true, false}) {
      for (const ReplicaSet* set : old_) {
        int& target = targets_.try_emplace(set, set->replicas).first->second;
        const int candidates = unhealthy ? set->replicas - set->available_replicas : target;
        const int taken = std::clamp(std::min(candidates, spare), 0, target);
        target -= taken;
        spare -= taken;
      }
    }
    for (const ReplicaSet* set : old_) Scale(*set, targets_[set]);
  }

  void DropHistory() {
    std::vector<const ReplicaSet*> idle;
    for (const ReplicaSet* set : old_)
      if (set->replicas == 0 && set->status_replicas == 0 && !set->meta.deletion_timestamp)
        idle.push_back(set);
    for (size_t i = 0; i + static_cast<size_t>(d().revision_history_limit) < idle.size(); ++i)
      plan_.actions.push_back(
          DeleteObject{{"ReplicaSet", idle[i]->meta.ns, idle[i]->meta.name}, idle[i]->meta.uid, {}});
  }

  void Set(api::DeploymentStatus& status, const std::string& type, bool value, const std::string& reason,
           const std::string& message) {
    const auto it = std::ranges::find(status.conditions, type, &api::WorkloadCondition::type);
    api::WorkloadCondition next{type, value, reason, message, o_.now, o_.now};
    if (it == status.conditions.end()) {
      status.conditions.push_back(next);
    } else if (it->status != value || it->reason != reason) {
      if (it->status == value) next.last_transition = it->last_transition;
      *it = next;
    }
  }

  void WriteStatus() {
    api::DeploymentStatus next{d().meta.generation, 0, 0, 0, 0, d().status.conditions};
    for (const ReplicaSet& set : o_.sets) {
      next.replicas += set.status_replicas;
      next.ready_replicas += set.ready_replicas;
      next.available_replicas += set.available_replicas;
    }
    next.updated_replicas = current_ == nullptr ? 0 : current_->status_replicas;
    const std::string name = "\"" + d().meta.name + "-" + hash_ + "\"";
    const bool complete = next.updated_replicas == d().replicas && next.available_replicas == d().replicas &&
                          next.replicas == d().replicas;
    if (next.available_replicas >= d().replicas - Unavailable())
      Set(next, "Available", true, "MinimumReplicasAvailable", "Deployment has minimum availability.");
    else
      Set(next, "Available", false, "MinimumReplicasUnavailable",
          "Deployment does not have minimum availability.");
    if (current_ == nullptr)
      Set(next, "Progressing", true, "NewReplicaSetCreated", "Created new replica set " + name);
    else if (complete)
      Set(next, "Progressing", true, "NewReplicaSetAvailable",
          "ReplicaSet " + name + " has successfully progressed.");
    else Set(next, "Progressing", true, "ReplicaSetUpdated", "ReplicaSet " + name + " is progressing.");
    if (next != d().status)
      plan_.actions.push_back(
          PatchObject{Key(), d().meta.uid, "/status", api::Object(api::EncodeDeploymentStatus(next))});
  }

  api::ObjectKey Key() const { return {"Deployment", d().meta.ns, d().meta.name}; }
  api::Event Event(bool warning, std::string reason, std::string message) const {
    return {o_.self, warning, std::move(reason), std::move(message), "deployment-controller", ""};
  }

  const DeploymentObservation& o_;
  std::string hash_;
  const ReplicaSet* current_ = nullptr;
  std::vector<const ReplicaSet*> old_;
  std::map<const ReplicaSet*, int> targets_;  // never iterated: pointers order nothing
  int64_t revision_ = 0;
  Plan plan_;
};

}  // namespace

Plan ReconcileDeployment(const DeploymentObservation& observed) {
  if (observed.deployment.meta.deletion_timestamp) return {};
  return Rollout(observed).Make();
}

}  // namespace tfemu::controllers
