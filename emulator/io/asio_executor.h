// The real executor: one Asio io_context, one thread, the wall clock.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "emulator/base/timer_queue.h"

namespace tfemu::io {

// Only Post may be called from another thread.
class AsioExecutor final : public Executor {
 public:
  explicit AsioExecutor(boost::asio::io_context& context);

  Instant Now() const override;  // the wall clock at construction plus a steady clock
  void Post(Task task) override;
  TimerId PostAt(Instant due, Task task) override;
  void Cancel(TimerId id) override;

  boost::asio::io_context& context() { return context_; }

 private:
  void Arm();
  void RunDue();

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  TimerQueue timers_;
  int64_t wall_offset_ns_;
};

}  // namespace tfemu::io
