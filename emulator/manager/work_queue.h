// Keys waiting to be reconciled: a key is queued once however often it is added, and a failed one comes back
// after a growing delay.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "emulator/api/object.h"
#include "emulator/base/executor.h"

namespace tfemu::manager {

class WorkQueue {
 public:
  using Handler = std::function<Result<void>(const api::ObjectKey&)>;

  WorkQueue(Executor& executor, Handler handler) : executor_(executor), handler_(std::move(handler)) {}
  ~WorkQueue();

  void Add(const api::ObjectKey& key);
  // Once more after `delay`; an earlier wish for the same key is replaced.
  void AddAfter(const api::ObjectKey& key, Duration delay);

 private:
  void RunOne();

  Executor& executor_;
  Handler handler_;
  std::deque<api::ObjectKey> queue_;
  std::set<api::ObjectKey> queued_;
  std::map<api::ObjectKey, int> failures_;
  std::map<api::ObjectKey, TimerId> timers_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // tasks already posted look at it
};

}  // namespace tfemu::manager
