// Rules about single pods: their phases, their programs, and what their status says.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/pod.h"
#include "tests/sim/checker.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {
namespace {

using api::ContainerState;
using runtime::KeptContainer;
using runtime::PodEvent;

const api::Pod* AsPod(const api::Object* object) {
  if (object == nullptr || object->key().kind != "Pod") return nullptr;
  return &object->As(api::DecodePod);
}

class OneNode final : public Checker {
 public:
  explicit OneNode(Complaints& complaints) : Checker("a pod stays on its node", complaints) {}
  void OnWrite(const api::Object* before, const api::Object& after, store::Revision) override {
    const api::Pod *old = AsPod(before), *pod = AsPod(&after);
    if (old == nullptr || pod == nullptr || old->meta.uid != pod->meta.uid) return;
    if (!old->spec.node_name.empty() && old->spec.node_name != pod->spec.node_name)
      Complain(pod->meta.name + " moved from " + old->spec.node_name + " to " + pod->spec.node_name);
  }
};

class TerminalPhase final : public Checker {
 public:
  explicit TerminalPhase(Complaints& complaints) : Checker("a pod that has ended stays so", complaints) {}
  void OnWrite(const api::Object* before, const api::Object& after, store::Revision) override {
    const api::Pod *old = AsPod(before), *pod = AsPod(&after);
    if (old == nullptr || pod == nullptr || old->meta.uid != pod->meta.uid || !old->finished()) return;
    if (old->status.phase != pod->status.phase)
      Complain(pod->meta.name + " was " + std::string(ToString(old->status.phase)) + " and is " +
               std::string(ToString(pod->status.phase)));
  }
};

class StartedOnce final : public Checker {
 public:
  explicit StartedOnce(Complaints& complaints)
      : Checker("an attempt of a container is started once, after the one before", complaints) {}
  void OnPodEvent(const PodEvent& event) override {
    const std::string container = event.uid + "/" + event.container;
    if (event.type == PodEvent::Type::kContainerExited) running_.erase(container);
    if (event.type != PodEvent::Type::kContainerStarted) return;
    const auto latest = latest_.find(container);
    if (latest != latest_.end() && latest->second >= event.attempt)
      Complain(container + ": attempt " + std::to_string(event.attempt) + " after " +
               std::to_string(latest->second));
    if (!running_.insert(container).second) Complain(container + " runs twice");
    latest_[container] = event.attempt;
  }
  void OnWrite(const api::Object*, const api::Object& after, store::Revision) override {
    const api::Pod* pod = AsPod(&after);
    if (pod == nullptr) return;
    for (const auto* list : {&pod->status.init_containers, &pod->status.containers})
      for (const api::ContainerStatus& status : *list)
        if (!status.container_id.empty()) stored_[pod->meta.uid + "/" + status.name] = status.restart_count;
  }
  // With it goes what no daemon has stored: such a start is made again.
  void OnSupervisorDied() override {
    running_.clear();
    std::map<std::string, int> known;
    for (const auto& [container, attempt] : latest_)
      if (const auto stored = stored_.find(container); stored != stored_.end())
        known[container] = std::min(attempt, stored->second);
    latest_ = std::move(known);
  }

 private:
  std::map<std::string, int> latest_, stored_;
  std::set<std::string> running_;
};

// A status that says Running tells of a program that runs, in that attempt; and the other way round.
class TrueStatus final : public Checker {
 public:
  explicit TrueStatus(Complaints& complaints)
      : Checker("a status says what is so, once its node's agent was told", complaints) {}
  void OnSettled(const SimHost& host) override {
    if (host.disk().refused() != refused_) {  // what could not be written is tried again for a while
      refused_ = host.disk().refused();
      trusted_from_ = host.now() + kPatience;
    }
    if (host.now() < trusted_from_) return;
    for (const auto& [key, object] : host.disk().objects())
      if (key.kind == "Pod") Check(host, object.As(api::DecodePod));
  }

 private:
  static constexpr Duration kPatience = std::chrono::seconds(30);

  void Check(const SimHost& host, const api::Pod& pod) {
    const auto live = host.runtime().pods().find(pod.meta.uid);
    const bool there = live != host.runtime().pods().end();
    for (const auto* list : {&pod.status.init_containers, &pod.status.containers})
      for (const api::ContainerStatus& status : *list) {
        const bool says = status.state.type == ContainerState::Type::kRunning;
        bool runs = false;
        if (there)
          if (const auto found = live->second.containers.find(status.name);
              found != live->second.containers.end())
            runs = found->second.state == KeptContainer::State::kRunning &&
                   (!says || found->second.launch.attempt == status.restart_count);
        if (says != runs && !pod.finished())
          Complain(pod.meta.name + "/" + status.name + (says ? " says Running and is not" : " runs unsaid") +
                   " (restart " + std::to_string(status.restart_count) + ")");
      }
  }

  uint64_t refused_ = 0;
  Duration trusted_from_{0};
};

}  // namespace

Checkers PodCheckers(Complaints& complaints) {
  Checkers list;
  list.push_back(std::make_unique<OneNode>(complaints));
  list.push_back(std::make_unique<TerminalPhase>(complaints));
  list.push_back(std::make_unique<StartedOnce>(complaints));
  list.push_back(std::make_unique<TrueStatus>(complaints));
  return list;
}

Checkers AllCheckers(Complaints& complaints) {
  Checkers list;
  for (const auto make : {PodCheckers, NodeCheckers, StoreCheckers, JobCheckers})
    for (auto& checker : make(complaints)) list.push_back(std::move(checker));
  return list;
}

}  // namespace tfemu::sim
