// A process between clone3 and its end: tells when exec happened or why not, and how it ended.
#pragma once

#include <functional>
#include <string>

#include "runtime/process/spawn.h"
#include "runtime/supervisor/container_child.h"

namespace tfemu::supervisor {

class StartedProcess {
 public:
  struct Listener {
    std::function<void()> executed;
    std::function<void(StartFailure)> failed;         // the last call
    std::function<void(process::ExitStatus)> exited;  // after `executed`; the last call
  };

  // `failure_pipe` is the reading end of the pipe the child has.
  StartedProcess(boost::asio::io_context& context, process::Child child, UniqueFd failure_pipe);

  // May be called once; the calls come from the loop.
  void Watch(Listener listener);
  void Signal(int signal);
  int pidfd() const { return pidfd_.fd(); }
  pid_t host_pid() const { return host_pid_; }

 private:
  void OnPipe();
  void OnExit();
  // Once exec or failure is known: true when it was exec.
  bool Settle();

  Listener listener_;
  process::FdWatch pidfd_;
  process::FdWatch pipe_;
  pid_t host_pid_;
  std::string failure_;
  bool settled_ = false, failed_ = false;
};

}  // namespace tfemu::supervisor
