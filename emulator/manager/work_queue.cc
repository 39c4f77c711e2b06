#include "emulator/manager/work_queue.h"

#include <algorithm>

namespace tfemu::manager {
namespace {

constexpr Duration kFirstRetry = std::chrono::milliseconds(5);
constexpr int kMostDoublings = 12;  // about 20 s

}  // namespace

WorkQueue::~WorkQueue() {
  *alive_ = false;
  for (const auto& [key, timer] : timers_) executor_.Cancel(timer);
}

void WorkQueue::Add(const api::ObjectKey& key) {
  if (!queued_.insert(key).second) return;
  queue_.push_back(key);
  executor_.Post([this, alive = alive_] {
    if (*alive) RunOne();
  });
}

void WorkQueue::AddAfter(const api::ObjectKey& key, Duration delay) {
  if (const auto it = timers_.find(key); it != timers_.end()) executor_.Cancel(it->second);
  timers_[key] = executor_.PostAt(executor_.Now() + delay, [this, key] {
    timers_.erase(key);
    Add(key);
  });
}

void WorkQueue::RunOne() {
  const api::ObjectKey key = queue_.front();
  queue_.pop_front();
  queued_.erase(key);
  if (handler_(key).ok()) {
    failures_.erase(key);
    return;
  }
  const int doublings = std::min(failures_[key]++, kMostDoublings);
  AddAfter(key, kFirstRetry * (1 << doublings));
}

}  // namespace tfemu::manager
