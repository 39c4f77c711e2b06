#include "emulator/io/asio_executor.h"

#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

namespace tfemu::io {
namespace {

int64_t SteadyNanoseconds() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int64_t WallNanoseconds() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

AsioExecutor::AsioExecutor(boost::asio::io_context& context)
    : context_(context), timer_(context), wall_offset_ns_(WallNanoseconds() - SteadyNanoseconds()) {}

Instant AsioExecutor::Now() const { return {SteadyNanoseconds() + wall_offset_ns_}; }

void AsioExecutor::Post(Task task) { boost::asio::post(context_, std::move(task)); }

TimerId AsioExecutor::PostAt(Instant due, Task task) {
  const TimerId id = timers_.Add(due, std::move(task));
  Arm();
  return id;
}

void AsioExecutor::Cancel(TimerId id) {
  timers_.Cancel(id);
  Arm();
}

void AsioExecutor::Arm() {
  const auto due = timers_.NextDue();
  if (!due) {
    timer_.cancel();
    return;
  }
  timer_.expires_at(std::chrono::steady_clock::time_point(Duration(due->ns - wall_offset_ns_)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) RunDue();
  });
}

// One instant for the whole batch, as the simulated executor has it; what is added meanwhile waits its turn.
void AsioExecutor::RunDue() {
  const Instant now = Now();
  for (auto due = timers_.NextDue(); due && *due <= now; due = timers_.NextDue()) timers_.PopFront()();
  Arm();
}

}  // namespace tfemu::io
