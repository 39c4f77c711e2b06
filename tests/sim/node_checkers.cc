// Rules about what nodes give to pods: room, devices and addresses, to one at a time.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "emulator/api/gpu.h"
#include "emulator/api/node.h"
#include "emulator/api/pod.h"
#include "tests/sim/checker.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {
namespace {

using Amounts = std::map<std::string, int64_t>;  // in thousandths

// What a pod takes of its node: its containers' requests, or the largest of an init container.
Amounts Needs(const api::Pod& pod) {
  Amounts needs;
  for (const api::Container& container : pod.spec.containers)
    for (const auto& [name, amount] : container.requests) needs[name] += amount.milli;
  for (const api::Container& container : pod.spec.init_containers)
    for (const auto& [name, amount] : container.requests) needs[name] = std::max(needs[name], amount.milli);
  return needs;
}

// The pods that hold something now, by uid.
class Holders {
 public:
  // Whether the pod has just come to its node.
  bool OnWrite(const api::Object& after) {
    if (after.key().kind == "Node") nodes_.insert_or_assign(after.key().name, after);
    if (after.key().kind != "Pod") return false;
    const api::Pod& pod = after.As(api::DecodePod);
    if (pod.spec.node_name.empty() || pod.finished()) {
      pods_.erase(pod.meta.uid);
      return false;
    }
    return pods_.insert_or_assign(pod.meta.uid, after).second;
  }
  void OnErase(const api::Object& last) { pods_.erase(last.uid()); }

  const std::map<std::string, api::Object>& pods() const { return pods_; }
  const api::Node* Node(const std::string& name) const {
    const auto node = nodes_.find(name);
    return node == nodes_.end() ? nullptr : &node->second.As(api::DecodeNode);
  }

 private:
  std::map<std::string, api::Object> pods_, nodes_;
};

class Room final : public Checker {
 public:
  explicit Room(Complaints& complaints) : Checker("a node gives no more than it has", complaints) {}
  void OnWrite(const api::Object*, const api::Object& after, store::Revision) override {
    if (!holders_.OnWrite(after)) return;
    const std::string& name = after.As(api::DecodePod).spec.node_name;
    const api::Node* node = holders_.Node(name);
    if (node == nullptr) return Complain(after.key().name + " was bound to " + name + ", which is not there");
    Amounts taken;
    for (const auto& [uid, object] : holders_.pods()) {
      const api::Pod& pod = object.As(api::DecodePod);
      if (pod.spec.node_name != name) continue;
      for (const auto& [resource, amount] : Needs(pod)) taken[resource] += amount;
    }
    for (const auto& [resource, amount] : Needs(after.As(api::DecodePod))) {
      const auto offered = node->allocatable.find(resource);
      const int64_t has = offered == node->allocatable.end() ? 0 : offered->second.milli;
      if (amount > 0 && taken[resource] > has)
        Complain(name + " has " + std::to_string(has) + " of " + resource + " and gave " +
                 std::to_string(taken[resource]));
    }
  }
  void OnErase(const api::Object& last, store::Revision) override { holders_.OnErase(last); }

 private:
  Holders holders_;
};

class OneHolder final : public Checker {
 public:
  explicit OneHolder(Complaints& complaints) : Checker("a GPU has one holder, and was healthy", complaints) {}
  void OnWrite(const api::Object*, const api::Object& after, store::Revision) override {
    const bool fresh = holders_.OnWrite(after);
    if (after.key().kind != "Pod" || !holders_.pods().contains(after.uid())) return;
    const api::Pod& pod = after.As(api::DecodePod);
    std::vector<std::string> mine;
    for (const auto& [container, shares] : api::GpuSharesOf(pod.meta))
      for (const api::GpuShare& share : shares) mine.push_back(share.uuid);
    if (fresh) CheckCount(pod, mine.size());
    if (mine.empty()) return;
    for (const std::string& uuid : mine) {
      const api::Node* node = holders_.Node(pod.spec.node_name);
      const api::Gpu* gpu = node == nullptr ? nullptr : node->gpus.Find(uuid);
      if (gpu == nullptr) Complain(pod.meta.name + " has " + uuid + ", which is not of its node");
      else if (fresh && !gpu->health.empty())
        Complain(pod.meta.name + " was given " + uuid + ", which is bad");
    }
    for (const auto& [uid, object] : holders_.pods()) {
      if (uid == after.uid()) continue;
      for (const auto& [container, shares] : api::GpuSharesOf(object.As(api::DecodePod).meta))
        for (const api::GpuShare& share : shares)
          if (std::ranges::count(mine, share.uuid) > 0)
            Complain(pod.meta.name + " and " + object.key().name + " have " + share.uuid);
    }
  }
  void OnErase(const api::Object& last, store::Revision) override { holders_.OnErase(last); }

 private:
  void CheckCount(const api::Pod& pod, size_t has) {
    const int64_t asked = Needs(pod)["nvidia.com/gpu"] / 1000;
    if (static_cast<int64_t>(has) != asked)
      Complain(pod.meta.name + " asked for " + std::to_string(asked) + " GPUs and has " +
               std::to_string(has));
  }
  Holders holders_;
};

class OneAddress final : public Checker {
 public:
  explicit OneAddress(Complaints& complaints) : Checker("an address has one pod", complaints) {}
  void OnSettled(const SimHost& host) override {
    std::map<std::string, std::string> owners;
    for (const auto& [uid, pod] : host.runtime().pods())
      if (const auto [other, fresh] = owners.emplace(pod.launch.address, pod.launch.name); !fresh)
        Complain(pod.launch.name + " and " + other->second + " have " + pod.launch.address);
  }
};

}  // namespace

Checkers NodeCheckers(Complaints& complaints) {
  Checkers list;
  list.push_back(std::make_unique<Room>(complaints));
  list.push_back(std::make_unique<OneHolder>(complaints));
  list.push_back(std::make_unique<OneAddress>(complaints));
  return list;
}

}  // namespace tfemu::sim
