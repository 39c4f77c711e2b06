// A job under several settings, one after the other, and what came out: `tfemu sweep`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/run.h"
#include "tools/cli/sweep_metric.h"
#include "tools/cli/sweep_plot.h"
#include "tools/cli/sweep_results.h"
#include "tools/cli/sweep_store.h"

namespace tfemu::cli {

struct SweepOptions {
  std::vector<std::string> files, settings, references;
  std::string metric, total, output, timeout;
  int repeat = 1;
  bool by_wall = false, fresh = false, strict = false, keep = false;
  UpOptions up;
  std::string command;  // how this sweep was called, for its page
};

class SweepCommand {
 public:
  SweepCommand(Session& session, const SweepOptions& options);
  ~SweepCommand();
  int Execute();

 private:
  struct Signals;

  // Each gives nothing, or the exit code to end with.
  std::optional<int> ReadArguments();
  std::optional<int> ReadJob();
  std::optional<int> ReadEarlier();
  std::optional<int> EnsureCluster();
  int RunPoints();
  std::optional<int> RunOne(SweepPoint& point, int repeat);
  std::string PointKey(const Assignment& assignment) const;
  std::string TitleOf(Assignment assignment) const;
  Manifest JobOf(const Assignment& assignment, int repeat) const;
  void Keep(const SweepPoint& point);  // in place of an older one
  void Show(int code);
  void TakeDown();

  Session& session_;
  const SweepOptions& options_;
  std::unique_ptr<Signals> signals_;
  std::vector<Manifest> others_;  // what the job needs: volumes, claims
  std::optional<Manifest> job_;
  std::optional<Metric> metric_;
  std::vector<Reference> references_;
  std::optional<SweepStore> store_;
  std::vector<Assignment> assignments_;
  std::vector<SweepPoint> earlier_;
  SweepResults results_;
  int done_ = 0, total_ = 0;
  bool own_cluster_ = false;
};

}  // namespace tfemu::cli
