// One program's share of an executor: when the program dies, so does everything it had posted.
#pragma once

#include <memory>
#include <utility>

#include "emulator/base/executor.h"

namespace tfemu {

// Destroying it is the program's death: none of its tasks runs afterwards, whatever they hold on to.
class SimProcess final : public Executor {
 public:
  explicit SimProcess(Executor& host) : host_(host) {}
  ~SimProcess() override { *alive_ = false; }
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  Instant Now() const override { return host_.Now(); }
  void Post(Task task) override { host_.Post(Mortal(std::move(task))); }
  TimerId PostAt(Instant due, Task task) override { return host_.PostAt(due, Mortal(std::move(task))); }
  void Cancel(TimerId id) override { host_.Cancel(id); }

 private:
  Task Mortal(Task task) const {
    return [alive = alive_, task = std::move(task)] {
      if (*alive) task();
    };
  }

  Executor& host_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu
