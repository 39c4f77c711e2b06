#include "emulator/manager/receipts.h"

#include <algorithm>

namespace tfemu::manager {
namespace {

constexpr Duration kDelay = std::chrono::milliseconds(50);

}  // namespace

void Receipts::Owe(const std::string& pod_uid, uint64_t sequence) {
  if (sequence == 0) return;
  owed_[pod_uid].push_back(sequence);
  open_.insert(sequence);
  highest_ = std::max(highest_, sequence);
}

void Receipts::Settle(const std::string& pod_uid) {
  const auto owed = owed_.extract(pod_uid);
  if (owed.empty()) return;
  for (const uint64_t sequence : owed.mapped()) open_.erase(sequence);
  Arm();
}

void Receipts::Reset() {
  owed_.clear();
  open_.clear();
  highest_ = told_ = 0;
}

void Receipts::Arm() {
  if (armed_) return;
  armed_ = true;
  executor_.PostAt(executor_.Now() + kDelay, [this, alive = alive_] {
    if (!*alive) return;
    armed_ = false;
    Tell();
  });
}

// An acknowledgement means every event before it, too.
void Receipts::Tell() {
  const uint64_t until = open_.empty() ? highest_ : *open_.begin() - 1;
  if (until <= told_) return;
  told_ = until;
  acknowledge_(until);
}

}  // namespace tfemu::manager
