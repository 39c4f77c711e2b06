// A sweep's folder: results that a later call goes on with, each run's logs, and what is made of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/cli/sweep_plot.h"
#include "tools/cli/sweep_results.h"

namespace tfemu::cli {

class SweepStore {
 public:
  // `folder` "": nothing is kept, and logs lie in a temporary folder until the end.
  static Result<SweepStore> Open(const std::string& folder);
  ~SweepStore();
  SweepStore(SweepStore&& other) noexcept;
  SweepStore& operator=(SweepStore&&) = delete;

  bool keeps() const { return !temporary_; }
  // Points of earlier calls; none when there is no results.json yet.
  Result<std::vector<SweepPoint>> Earlier() const;
  // After each run, so that an interrupt loses nothing.
  Result<void> Save(const SweepResults& results) const;
  Result<void> SaveReport(const SweepResults& results, const std::vector<Reference>& references,
                          const std::string& command) const;
  std::string LogFolder(const std::string& run) const;
  // Whole output by pod: each container's last attempt.
  static std::map<std::string, std::string> ReadLogs(const std::string& folder);
  std::string PathOf(const std::string& name) const;

 private:
  SweepStore(std::string folder, bool temporary) : folder_(std::move(folder)), temporary_(temporary) {}
  Result<void> Write(const std::string& name, const std::string& text) const;

  std::string folder_;
  bool temporary_;
};

}  // namespace tfemu::cli
