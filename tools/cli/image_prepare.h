// Making images ready, with progress on the terminal.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/session.h"

namespace tfemu::cli {

// One after the other; those that are ready take no time. kTimeout-free: a download takes what it takes.
Result<void> PrepareImages(Session& session, const std::vector<std::string>& references);

}  // namespace tfemu::cli
