#include "emulator/base/sim_executor.h"

#include <algorithm>
#include <utility>

namespace tfemu {

void SimExecutor::Post(Task task) { timers_.Add(now_, std::move(task)); }

TimerId SimExecutor::PostAt(Instant due, Task task) {
  return timers_.Add(std::max(due, now_), std::move(task));
}

bool SimExecutor::RunNext(Instant limit) {
  const auto due = timers_.NextDue();
  if (!due || *due > limit) return false;
  now_ = *due;
  timers_.PopFront()();
  return true;
}

uint64_t SimExecutor::RunUntil(Instant limit) {
  uint64_t count = 0;
  while (RunNext(limit)) ++count;
  now_ = std::max(now_, limit);
  return count;
}

}  // namespace tfemu
