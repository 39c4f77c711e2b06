// Which pods a request means: named, owned by a workload at any depth, or chosen by labels.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "emulator/api/selector.h"
#include "emulator/manager/registry.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {

class PodSelection {
 public:
  explicit PodSelection(const manager::Registry& registry) : registry_(registry) {}

  // kNotFound when a target is not there; a missing pod is no error here, for its logs may be kept.
  Result<void> Begin(const v1::LogsRequest& request);
  bool Contains(const api::Object& pod) const;
  // The pod was asked for by its name, not through a workload or labels.
  bool Named(const std::string& pod) const { return pods_.contains(pod); }
  // True when no further pod can join: only single pods were asked for, or every workload is over or gone.
  bool Complete() const;

 private:
  bool IsOwned(const api::Object& object, int depth) const;

  const manager::Registry& registry_;
  std::string ns_;
  std::set<std::string> pods_;  // by name
  std::set<std::string> owner_uids_;
  std::vector<api::ObjectKey> workloads_;
  api::Selector selector_;
};

}  // namespace tfemu::rpc
