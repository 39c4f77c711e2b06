// Where a simulated daemon may die: just before or just after anything of it takes effect outside of it.
#pragma once

#include <cstdint>
#include <limits>

namespace tfemu::sim {

// Thrown through the daemon's code, which ends where it stands; only SimHost catches it.
struct DaemonDied {};

// Every effect is passed twice, so point 2n is before the n-th effect and 2n + 1 after it.
class Gate {
 public:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  void Pass() {
    if (points_++ != fatal_) return;
    fatal_ = kNever;
    throw DaemonDied{};
  }
  // At that point, counted from the start; once.
  void DieAt(uint64_t point) { fatal_ = point; }
  void DieAfter(uint64_t more) { fatal_ = points_ + more; }
  void Disarm() { fatal_ = kNever; }
  uint64_t points() const { return points_; }

 private:
  uint64_t points_ = 0, fatal_ = kNever;
};

}  // namespace tfemu::sim
