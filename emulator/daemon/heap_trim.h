// Gives memory back to the host some time after objects were deleted: the allocator would keep what a burst
// of jobs took.
#pragma once

#include <optional>

#include "emulator/base/executor.h"
#include "emulator/store/store.h"

namespace tfemu::daemon {

class HeapTrim {
 public:
  // Both must outlive it.
  HeapTrim(Executor& executor, store::Store& store);
  ~HeapTrim();
  HeapTrim(const HeapTrim&) = delete;
  HeapTrim& operator=(const HeapTrim&) = delete;

 private:
  void OnWatch(const store::WatchEvent& event);

  Executor& executor_;
  store::Store& store_;
  std::optional<store::WatchId> watch_;
  std::optional<TimerId> due_;
};

}  // namespace tfemu::daemon
