// A job as a command: `tfemu run`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/daemon.h"
#include "tools/cli/manifests.h"
#include "tools/cli/run_monitor.h"
#include "tools/cli/session.h"

namespace tfemu::cli {

struct RunOptions {
  std::vector<std::string> files;
  std::string timeout, junit, logs;
  bool keep = false, strict = false;
  UpOptions up;
  // For a run that is one of many, as of a sweep.
  std::vector<Manifest> manifests;  // run these instead of the files
  bool brief = false;               // only warnings and errors are said, no log is shown
  std::string label;                // stands in front of the status line
};

// The phases before and after the job runs; each gives nothing, or the exit code to end with.
class RunCommand {
 public:
  RunCommand(Session& session, const RunOptions& options);
  ~RunCommand();
  int Execute();
  // From applying to the end of the last job; nothing when there was no end.
  std::optional<Duration> wall_time() const;

 private:
  struct Signals;

  std::optional<int> EnsureCluster();
  std::optional<int> Check();
  std::optional<int> Prepare();
  std::optional<int> Stage();
  std::optional<int> Apply(const std::vector<Manifest>& stage);
  int Follow(std::vector<RunItem> items);
  int RunStages();
  int CleanUp(int code);
  void Report(int code);
  int Refuse(const std::vector<Error>& errors);
  bool interrupted() const;
  void Note(const std::string& line);

  Session& session_;
  const RunOptions& options_;
  std::unique_ptr<Signals> signals_;
  std::vector<Manifest> manifests_;
  std::vector<std::vector<Manifest>> stages_;
  std::vector<api::ObjectKey> created_;
  std::vector<RunItem> items_;
  Instant started_;
  std::optional<Instant> applied_;
  uint64_t revision_ = 0;  // of the cluster before anything was applied
  bool own_cluster_ = false;
  std::string failure_;
  std::vector<api::EciBill> bills_;
  std::string bill_;  // of ECI instances; "" when there were none
};

}  // namespace tfemu::cli
