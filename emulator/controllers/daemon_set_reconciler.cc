#include "emulator/controllers/daemon_set_reconciler.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace tfemu::controllers {
namespace {

using api::Node;
using api::Pod;

constexpr Duration kFailedPodWait = std::chrono::seconds(10);

class DaemonSync {
 public:
  explicit DaemonSync(const DaemonSetObservation& observed) : o_(observed) {
    for (const Pod& pod : o_.pods) pods_[api::NodeOfDaemon(pod)].push_back(&pod);
  }

  Plan Make() {
    for (const Node& node : o_.nodes) Place(node);
    for (const auto& [node, pods] : pods_)
      if (std::ranges::find(o_.nodes, node, [](const Node& n) { return n.meta.name; }) == o_.nodes.end())
        for (const Pod* pod : pods) Delete(*pod);
    if (!o_.set.on_delete) Roll();
    WriteStatus();
    return std::move(plan_);
  }

 private:
  bool Suits(const Node& node) const {
    for (const auto& [key, value] : o_.set.node_selector) {
      const auto label = node.meta.labels.find(key);
      if (label == node.meta.labels.end() || label->second != value) return false;
    }
    return std::ranges::all_of(node.taints, [&](const api::Taint& taint) {
      return taint.effect == "PreferNoSchedule" || api::Tolerates(o_.set.tolerations, taint);
    });
  }

  void Place(const Node& node) {
    const auto found = pods_.find(node.meta.name);
    const std::vector<const Pod*> pods = found == pods_.end() ? std::vector<const Pod*>{} : found->second;
    if (!Suits(node)) {
      if (!pods.empty()) ++status_.misscheduled;
      for (const Pod* pod : pods) Delete(*pod);
      return;
    }
    ++status_.desired;
    const Pod* kept = nullptr;
    for (const Pod* pod : pods) {
      if (pod->finished()) Replace(*pod);
      else if (kept == nullptr) kept = pod;
      else Delete(*pod);  // one too many
    }
    if (pods.empty()) {
      Create(node.meta.name);
    } else if (kept != nullptr) {
      ++status_.current;
      if (Updated(*kept)) ++status_.updated;
      if (kept->ready()) ++status_.ready;
      placed_.push_back(kept);
    }
  }

  // A daemon that fails is made anew after a while, not at once and for ever.
  void Replace(const Pod& pod) {
    const Instant due =
        pod.status.start_time.value_or(pod.meta.creation_timestamp) + kFailedPodWait / o_.time_scale;
    if (o_.now < due) {
      plan_.requeue_after = std::min(plan_.requeue_after.value_or(due - o_.now), due - o_.now);
      return;
    }
    if (!pod.meta.deletion_timestamp)
      plan_.actions.push_back(
          EmitEvent{Event(true, "FailedDaemonPod",
                          "Found failed daemon pod " + pod.meta.ns + "/" + pod.meta.name + " on node " +
                              api::NodeOfDaemon(pod) + ", will try to kill it")});
    Delete(pod);
  }

  bool Updated(const Pod& pod) const {
    const auto label = pod.meta.labels.find("controller-revision-hash");
    return label != pod.meta.labels.end() && label->second == api::PodTemplateHash(o_.set.pod_template);
  }

  // Old pods that are not ready go at once, of the others as many as may be missing. A pod that is on its way
  // out is missing already, ready or not.
  void Roll() {
    const auto serving = std::ranges::count_if(
        placed_, [](const Pod* pod) { return pod->ready() && !pod->meta.deletion_timestamp; });
    int spare =
        o_.set.max_unavailable.Of(status_.desired, true) - (status_.desired - static_cast<int>(serving));
    for (const bool ready : {false, true}) {
      for (const Pod* pod : placed_) {
        if (Updated(*pod) || pod->ready() != ready || pod->meta.deletion_timestamp) continue;
        if (ready && spare-- <= 0) return;
        Delete(*pod);
      }
    }
  }

  void Create(const std::string& node) {
    plan_.actions.push_back(CreateObject{api::Object(api::MakeDaemonSetPod(o_.set, node)),
                                         {Event(false, "SuccessfulCreate", "Created pod: {name}"),
                                          Event(true, "FailedCreate", "Error creating")}});
  }

  void Delete(const Pod& pod) {
    if (pod.meta.deletion_timestamp) return;
    plan_.actions.push_back(DeleteObject{pod.key(),
                                         pod.meta.uid,
                                         {Event(false, "SuccessfulDelete", "Deleted pod: " + pod.meta.name),
                                          Event(true, "FailedDelete", "Error deleting")}});
  }

  void WriteStatus() {
    status_.observed_generation = o_.set.meta.generation;
    if (status_ != o_.set.status)
      plan_.actions.push_back(PatchObject{{"DaemonSet", o_.set.meta.ns, o_.set.meta.name},
                                          o_.set.meta.uid,
                                          "/status",
                                          api::Object(api::EncodeDaemonSetStatus(status_))});
  }

  api::Event Event(bool warning, std::string reason, std::string message) const {
    return {o_.self, warning, std::move(reason), std::move(message), "daemonset-controller", ""};
  }

  const DaemonSetObservation& o_;
  api::DaemonSetStatus status_;
  std::map<std::string, std::vector<const Pod*>> pods_;  // by node
  std::vector<const Pod*> placed_;                       // one a node that suits
  Plan plan_;
};

}  // namespace

Plan ReconcileDaemonSet(const DaemonSetObservation& observed) {
  if (observed.set.meta.deletion_timestamp) return {};
  return DaemonSync(observed).Make();
}

}  // namespace tfemu::controllers
