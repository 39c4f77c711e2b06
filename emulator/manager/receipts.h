// Which of the runtime's events have led to a stored status, so that it need not keep them any longer.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "emulator/base/executor.h"

namespace tfemu::manager {

// Acknowledges in one go what was settled within 50 ms: a message for each event would be felt at a launch.
class Receipts {
 public:
  using Acknowledge = std::function<void(uint64_t sequence)>;
  Receipts(Executor& executor, Acknowledge acknowledge)
      : executor_(executor), acknowledge_(std::move(acknowledge)) {}
  ~Receipts() { *alive_ = false; }

  void Owe(const std::string& pod_uid, uint64_t sequence);
  // The pod's status is stored, or there is none to store any more.
  void Settle(const std::string& pod_uid);
  // Another runtime, with numbers of its own.
  void Reset();

 private:
  void Arm();
  void Tell();

  Executor& executor_;
  Acknowledge acknowledge_;
  std::map<std::string, std::vector<uint64_t>> owed_;  // by pod uid
  std::set<uint64_t> open_;
  uint64_t highest_ = 0, told_ = 0;
  bool armed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::manager
