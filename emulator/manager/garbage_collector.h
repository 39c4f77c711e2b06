// Deletes what its owner left behind, and what a namespace held that is being deleted.
#pragma once

#include "emulator/manager/registry.h"
#include "emulator/manager/work_queue.h"
#include "emulator/store/store.h"

namespace tfemu::manager {

class GarbageCollector {
 public:
  GarbageCollector(Executor& executor, store::Store& store, Registry& registry);

  void OnWatch(const store::WatchEvent& event);

 private:
  Result<void> SyncNamespace(const api::ObjectKey& key);
  void CollectDependents(const api::Object& owner);

  store::Store& store_;
  Registry& registry_;
  WorkQueue namespaces_;
};

}  // namespace tfemu::manager
