// Timers ordered by (due, issue order), shared by the real and the simulated executor so that they cannot
// disagree.
#pragma once

#include <map>
#include <optional>

#include "emulator/base/executor.h"

namespace tfemu {

class TimerQueue {
 public:
  TimerId Add(Instant due, Task task);
  void Cancel(TimerId id);
  std::optional<Instant> NextDue() const;
  Task PopFront();  // the queue must not be empty

 private:
  struct Key {
    Instant due;
    TimerId id;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  uint64_t next_ = 1;
  std::map<Key, Task> timers_;
  std::map<TimerId, Instant> due_by_id_;
};

}  // namespace tfemu
