// The part of `run` in which the job runs: the cluster's changes, all logs, a status line, and an end.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "emulator/rpc/client.h"
#include "tools/cli/log_printer.h"
#include "tools/cli/run_monitor.h"
#include "tools/cli/session.h"

namespace tfemu::cli {

class RunFollower {
 public:
  struct Options {
    uint64_t revision = 0;  // changes after it are ours to see
    Instant started;
    std::string log_folder;  // "": none
    bool brief = false;      // no progress, no logs on the terminal
    std::string label = {};  // stands in front of the status line
  };
  RunFollower(Session& session, const std::vector<api::ObjectKey>& items, Options options);

  // Runs the session's loop until the end.
  RunMonitor::Outcome Run(std::optional<Duration> timeout);
  void Stop(int code);  // from a handler on the loop
  const std::vector<RunItem>& items() const { return monitor_.items(); }
  std::vector<api::EciBill> bills() const { return monitor_.bills(); }

 private:
  Result<void> Begin();
  void StreamLogs(const std::string& ns, const std::vector<api::ObjectKey>& targets, bool finite);
  void OnChange(const rpc::v1::WatchReply& reply);
  void Tick();
  void Judge();
  void End(RunMonitor::Outcome outcome);
  void FinishWhenQuiet();
  void After(Duration delay, Task task);  // while the follower runs
  void Say(RunMonitor::Importance importance, const std::string& line);

  Session& session_;
  std::vector<api::ObjectKey> keys_;
  Options options_;
  LogPrinter printer_;
  RunMonitor monitor_;
  std::shared_ptr<rpc::WatchCall> watch_;
  std::list<std::shared_ptr<rpc::LogsCall>> logs_;
  std::optional<RunMonitor::Outcome> outcome_;
  std::vector<TimerId> timers_;
  int open_ = 0, open_finite_logs_ = 0;
  bool closing_ = false;
};

}  // namespace tfemu::cli
