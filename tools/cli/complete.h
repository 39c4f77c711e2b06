// What could come next on a command line: the shells' completion asks this program.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/session.h"

namespace tfemu::cli {

// `words` are those after "tfemu"; the last is being typed, and may be "". Kinds and names come from the
// cluster, when it runs. "@files" and "@dirs" mean: the shell's own completion of files or folders.
std::vector<std::string> Complete(const std::vector<std::string>& words, Session& session);

}  // namespace tfemu::cli
