// The flags of `up`, which `run` takes as well when it starts a cluster of its own.
#pragma once

#include <CLI/App.hpp>

#include "tools/cli/daemon.h"

namespace tfemu::cli {

void AddUpFlags(CLI::App& verb, UpOptions& options);

}  // namespace tfemu::cli
