// The command line as a whole: all verbs, and mistakes in it explained.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tools/cli/session.h"

namespace tfemu::cli {

// Parses and runs; the program's exit code. `arguments` without the program's name.
int RunCommandLine(const std::vector<std::string>& arguments, Session& session);
struct FlagTable {
  std::vector<std::string> names;    // "--tail"
  std::set<std::string> with_value;  // also the short ones
};
// The flags that may stand on a command line with these words.
FlagTable FlagsOf(const std::vector<std::string>& words);
// Every verb's name, for completion and "did you mean".
std::vector<std::string> VerbNames();

}  // namespace tfemu::cli
