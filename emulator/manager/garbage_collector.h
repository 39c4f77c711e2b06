// Deletes what its owner left behind, what stands in the way of an owner that waits for it, and what a
// namespace held that is being deleted.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emulator/manager/registry.h"
#include "emulator/manager/work_queue.h"
#include "emulator/store/store.h"

namespace tfemu::manager {

class GarbageCollector {
 public:
  GarbageCollector(Executor& executor, store::Store& store, Registry& registry);

  // Must see every object that is there at the start as added.
  void OnWatch(const store::WatchEvent& event);

 private:
  void Track(const store::WatchEvent& event);
  Result<void> SyncNamespace(const api::ObjectKey& key);
  Result<void> SyncObject(const api::ObjectKey& key);
  // Whether one of the object's owners is there, or of a kind that nobody here can look up.
  bool Owned(const api::Object& object) const;
  Result<void> DeleteDependents(const api::Object& owner);

  store::Store& store_;
  Registry& registry_;
  WorkQueue namespaces_, objects_;
  std::map<std::string, std::set<api::ObjectKey>> dependents_;     // by the owner's uid
  std::map<api::ObjectKey, std::vector<std::string>> owner_uids_;  // of those that have any
};

}  // namespace tfemu::manager
