// A JUnit report of a run, for continuous integration.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/run_monitor.h"

namespace tfemu::cli {

struct JunitReport {
  std::vector<RunItem> items;
  Instant started, ended;
  int code = 0;
  std::string message;  // why the run as a whole did not succeed
};

std::string FormatJunit(const JunitReport& report);

}  // namespace tfemu::cli
