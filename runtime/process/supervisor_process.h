// Finding, starting and ending the one tfemu-supervisor of a cluster.
#pragma once

#include <optional>
#include <string>

#include "runtime/process/spawn.h"

namespace tfemu::process {

class SupervisorProcess {
 public:
  struct Started;  // with the connection to it
  // The one that runs. Waits for the end of one that is about to; nullopt when there is none.
  static Result<std::optional<Started>> Find(const std::string& state_folder);
  // Being PID 1 of a pid namespace, it takes every pod with it, however it dies. Any thread may call this.
  static Result<Started> Start(const std::string& program, const std::string& state_folder);

  SupervisorProcess() = default;
  int pid() const { return pid_; }  // 0: none
  // Asks it to stop its pods and to end, which works for every version of it.
  void Terminate() const;
  // Waits for its end, kills it when that takes longer than `patience_ms` (false); how it ended.
  bool AwaitEnd(int patience_ms);
  const ExitStatus& status() const { return status_; }
  bool status_known() const { return child_; }  // it was started by this process

 private:
  UniqueFd pidfd_;
  int pid_ = 0;
  bool child_ = false;
  ExitStatus status_;
};

struct SupervisorProcess::Started {
  SupervisorProcess process;
  UniqueFd socket;
};

// What a supervisor leaves in the state folder: its door, and who it was.
std::string SupervisorSocket(const std::string& state_folder);
std::string SupervisorPidFile(const std::string& state_folder);
// Why the supervisor that the pid file names is gone: "the host was restarted", or "" when there was none or
// it ended in order.
std::string HowSupervisorWasLost(const std::string& state_folder);

}  // namespace tfemu::process
