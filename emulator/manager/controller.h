// The imperative shell round a pure reconciler: events become keys, a key is read, reconciled and acted upon.
#pragma once

#include <functional>
#include <optional>

#include "emulator/controllers/action.h"
#include "emulator/manager/action_applier.h"
#include "emulator/manager/work_queue.h"
#include "emulator/store/store.h"

namespace tfemu::manager {

class Controller {
 public:
  // Which keys to look at because of an event; and what to do about a key, nullopt when its object is gone.
  using Mapper = std::function<std::vector<api::ObjectKey>(const store::WatchEvent&)>;
  using Reconciler = std::function<std::optional<controllers::Plan>(const api::ObjectKey&)>;

  Controller(Executor& executor, ActionApplier& applier, Mapper mapper, Reconciler reconciler);

  void OnWatch(const store::WatchEvent& event);

 private:
  Result<void> Sync(const api::ObjectKey& key);

  ActionApplier& applier_;
  Mapper mapper_;
  Reconciler reconciler_;
  WorkQueue queue_;
};

}  // namespace tfemu::manager
