// Where every piece of this program runs and how it learns the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace tfemu {

using Duration = std::chrono::nanoseconds;

// A point of the executor's own clock: nanoseconds since the Unix epoch as that clock sees it. It never goes
// back, and only one executor's instants may be compared.
struct Instant {
  int64_t ns = 0;
  friend auto operator<=>(const Instant&, const Instant&) = default;
  friend Instant operator+(Instant t, Duration d) { return {t.ns + d.count()}; }
  friend Duration operator-(Instant a, Instant b) { return Duration{a.ns - b.ns}; }
};

using Task = std::function<void()>;
enum class TimerId : uint64_t {};

// Single-threaded. Tasks due at the same Instant run in the order in which they were posted; the real and the
// simulated executor both keep this promise, so no code may rely on less.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual Instant Now() const = 0;
  virtual void Post(Task task) = 0;
  virtual TimerId PostAt(Instant due, Task task) = 0;
  virtual void Cancel(TimerId id) = 0;  // harmless when the timer has fired
};

}  // namespace tfemu
