#include "emulator/controllers/stateful_set_reconciler.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace tfemu::controllers {
namespace {

using api::ControllerRevision;
using api::Pod;

bool Healthy(const Pod& pod) {
  return !pod.meta.deletion_timestamp && pod.status.phase == api::PodPhase::kRunning && pod.ready();
}

class SetSync {
 public:
  explicit SetSync(const StatefulSetObservation& observed) : o_(observed), status_(observed.set.status) {
    for (const Pod& pod : o_.pods)
      if (const auto ordinal = api::OrdinalOf(set(), pod.meta.name)) pods_[*ordinal] = &pod;
  }

  Plan Make() {
    TakeRevisions();
    if (KeepReplicas() && ScaleDown() && !set().on_delete) Roll();
    DropHistory();
    WriteStatus();
    return std::move(plan_);
  }

 private:
  const api::StatefulSet& set() const { return o_.set; }
  int end() const { return set().start + set().replicas; }

  const ControllerRevision* Find(const std::string& name) const {
    const auto it = std::ranges::find(o_.revisions, name, [](const auto& r) { return r.meta.name; });
    return it == o_.revisions.end() ? nullptr : &*it;
  }

  // A template that comes back takes its former revision.
  void TakeRevisions() {
    const std::string name = api::RevisionName(set());
    int64_t newest = 0;
    for (const ControllerRevision& revision : o_.revisions) newest = std::max(newest, revision.revision);
    if (const ControllerRevision* known = Find(name)) {
      update_ = *known;
    } else {
      const api::Object made(api::MakeControllerRevision(set(), newest + 1));
      update_ = api::DecodeControllerRevision(made);
      plan_.actions.push_back(CreateObject{made, {}});
    }
    status_.update_revision = name;
    const ControllerRevision* current = Find(status_.current_revision);
    if (current == nullptr) status_.current_revision = name;
    current_ = current == nullptr ? *update_ : *current;
  }

  // Makes what is missing; false when the rest must wait.
  bool KeepReplicas() {
    for (int ordinal = set().start; ordinal < end(); ++ordinal) {
      const auto pod = pods_.find(ordinal);
      const bool there = pod != pods_.end();
      if (!there) Create(ordinal);
      else if (pod->second->finished() && !pod->second->meta.deletion_timestamp) Delete(*pod->second);
      if (!set().parallel && (!there || !Healthy(*pod->second))) return false;
    }
    return true;
  }

  void Create(int ordinal) {
    const std::string name = set().meta.name + "-" + std::to_string(ordinal);
    for (const api::Json& claim : api::MakeClaims(set(), ordinal)) {
      const api::Object object(claim);
      if (o_.claims.contains(object.key().name)) continue;
      const std::string what =
          "Claim " + object.key().name + " Pod " + name + " in StatefulSet " + set().meta.name;
      plan_.actions.push_back(
          CreateObject{object,
                       {Event(false, "SuccessfulCreate", "create " + what + " success"),
                        Event(true, "FailedCreate", "create " + what + " failed error")}});
    }
    const std::string what = "create Pod " + name + " in StatefulSet " + set().meta.name;
    const bool old = ordinal < set().start + set().partition;
    plan_.actions.push_back(
        CreateObject{api::Object(api::MakeStatefulSetPod(set(), ordinal, old ? *current_ : *update_)),
                     {Event(false, "SuccessfulCreate", what + " successful"),
                      Event(true, "FailedCreate", what + " failed error")}});
  }

  void Delete(const Pod& pod) {
    if (pod.meta.deletion_timestamp) return;
    const std::string what = "delete Pod " + pod.meta.name + " in StatefulSet " + set().meta.name;
    plan_.actions.push_back(DeleteObject{pod.key(),
                                         pod.meta.uid,
                                         {Event(false, "SuccessfulDelete", what + " successful"),
                                          Event(true, "FailedDelete", what + " failed error")}});
  }

  // The last first, and one at a time where order counts; false while one is on its way out.
  bool ScaleDown() {
    bool done = true;
    for (auto pod = pods_.rbegin(); pod != pods_.rend(); ++pod) {
      if (pod->first >= set().start && pod->first < end()) continue;
      done = false;
      Delete(*pod->second);
      if (set().drop_claims_when_scaled) DropClaims(pod->first);
      if (!set().parallel) return false;
    }
    return done;
  }

  // They go when the pod has: claims in use wait.
  void DropClaims(int ordinal) {
    for (const api::Json& claim : api::MakeClaims(set(), ordinal)) {
      const api::ObjectKey key = api::Object(claim).key();
      if (const auto found = o_.claims.find(key.name); found != o_.claims.end())
        plan_.actions.push_back(DeleteObject{key, found->second, {}});
    }
  }

  // From the last down to the partition, one at a time, each healthy before the next.
  void Roll() {
    for (int ordinal = end() - 1; ordinal >= set().start + set().partition; --ordinal) {
      const auto pod = pods_.find(ordinal);
      if (pod == pods_.end()) return;
      if (api::RevisionOf(pod->second->meta) != update_->meta.name) return Delete(*pod->second);
      if (!Healthy(*pod->second)) return;
    }
  }

  void DropHistory() {
    std::vector<const ControllerRevision*> unused;
    for (const ControllerRevision& revision : o_.revisions) {
      const std::string& name = revision.meta.name;
      const bool used =
          name == update_->meta.name || name == current_->meta.name ||
          std::ranges::any_of(o_.pods, [&](const Pod& pod) { return api::RevisionOf(pod.meta) == name; });
      if (!used) unused.push_back(&revision);
    }
    std::ranges::sort(unused, {}, [](const ControllerRevision* r) { return r->revision; });
    for (size_t i = 0; i + static_cast<size_t>(set().history_limit) < unused.size(); ++i)
      plan_.actions.push_back(
          DeleteObject{{"ControllerRevision", set().meta.ns, unused[i]->meta.name}, unused[i]->meta.uid, {}});
  }

  void WriteStatus() {
    status_.observed_generation = set().meta.generation;
    status_.replicas = static_cast<int>(pods_.size());
    status_.ready = status_.current = status_.updated = 0;
    for (const auto& [ordinal, pod] : pods_) {
      if (Healthy(*pod)) ++status_.ready;
      if (api::RevisionOf(pod->meta) == status_.current_revision) ++status_.current;
      if (api::RevisionOf(pod->meta) == status_.update_revision) ++status_.updated;
    }
    if (status_.updated == status_.replicas && status_.ready == set().replicas &&
        status_.replicas == set().replicas) {
      status_.current_revision = status_.update_revision;
      status_.current = status_.updated;
    }
    if (status_ != set().status)
      plan_.actions.push_back(PatchObject{{"StatefulSet", set().meta.ns, set().meta.name},
                                          set().meta.uid,
                                          "/status",
                                          api::Object(api::EncodeStatefulSetStatus(status_))});
  }

  api::Event Event(bool warning, std::string reason, std::string message) const {
    return {o_.self, warning, std::move(reason), std::move(message), "statefulset-controller", ""};
  }

  const StatefulSetObservation& o_;
  api::StatefulSetStatus status_;
  std::map<int, const Pod*> pods_;
  std::optional<ControllerRevision> current_, update_;  // set by TakeRevisions
  Plan plan_;
};

}  // namespace

Plan ReconcileStatefulSet(const StatefulSetObservation& observed) {
  if (observed.set.meta.deletion_timestamp) return {};
  return SetSync(observed).Make();
}

}  // namespace tfemu::controllers
