// A descriptor in an Asio loop: waits for readiness, reads and writes stay with the caller.
#pragma once

#include <functional>
#include <memory>

#include "emulator/base/unique_fd.h"

namespace boost::asio {
class io_context;
}

namespace tfemu::process {

// Destroying it cancels: no callback comes afterwards, not even one that was due already.
class FdWatch {
 public:
  FdWatch() = default;
  FdWatch(boost::asio::io_context& context, UniqueFd fd);
  FdWatch(FdWatch&&) noexcept = default;
  FdWatch& operator=(FdWatch&&) noexcept = default;

  bool valid() const { return state_ != nullptr; }
  int fd() const;
  // Once each; readiness includes errors and hang-up.
  void WaitReadable(std::function<void()> ready);
  void WaitWritable(std::function<void()> ready);
  void Close() { state_.reset(); }

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tfemu::process
