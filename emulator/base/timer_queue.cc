#include "emulator/base/timer_queue.h"

#include <utility>

#include "emulator/base/check.h"

namespace tfemu {

TimerId TimerQueue::Add(Instant due, Task task) {
  const auto id = TimerId{next_++};
  timers_.emplace(Key{due, id}, std::move(task));
  due_by_id_.emplace(id, due);
  return id;
}

void TimerQueue::Cancel(TimerId id) {
  const auto it = due_by_id_.find(id);
  if (it == due_by_id_.end()) return;
  timers_.erase(Key{it->second, id});
  due_by_id_.erase(it);
}

std::optional<Instant> TimerQueue::NextDue() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.due;
}

Task TimerQueue::PopFront() {
  CHECK_THAT(!timers_.empty());
  auto node = timers_.extract(timers_.begin());
  due_by_id_.erase(node.key().id);
  return std::move(node.mapped());
}

}  // namespace tfemu
