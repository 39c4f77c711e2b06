// The command line as a whole: all verbs, and mistakes in it explained.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/session.h"

namespace tfemu::cli {

// Parses and runs; the program's exit code. `arguments` without the program's name.
int RunCommandLine(const std::vector<std::string>& arguments, Session& session);
// Every verb's name, for completion and "did you mean".
std::vector<std::string> VerbNames();

}  // namespace tfemu::cli
