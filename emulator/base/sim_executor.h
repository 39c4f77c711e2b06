// Virtual time: the clock jumps to the next timer when nothing is runnable.
#pragma once

#include "emulator/base/timer_queue.h"

namespace tfemu {

class SimExecutor final : public Executor {
 public:
  explicit SimExecutor(Instant start) : now_(start) {}

  Instant Now() const override { return now_; }
  std::optional<Instant> NextDue() const { return timers_.NextDue(); }
  void Post(Task task) override;
  TimerId PostAt(Instant due, Task task) override;
  void Cancel(TimerId id) override { timers_.Cancel(id); }

  // Runs the next task that is due up to and including `limit`, and sets the clock to its time; false when
  // there is none.
  bool RunNext(Instant limit);
  // Runs everything due up to and including `limit`, then sets the clock there; returns the number of tasks
  // run.
  uint64_t RunUntil(Instant limit);
  // Runs what is due now, without letting time pass.
  uint64_t Settle() { return RunUntil(now_); }

 private:
  Instant now_;
  TimerQueue timers_;
};

}  // namespace tfemu
