// Where a cluster keeps its things; the daemon and the command line must agree.
#pragma once

#include <functional>
#include <string>

#include "emulator/base/result.h"

namespace tfemu::rpc {

// Reads an environment variable; "" when it is not set.
using Environment = std::function<std::string(const std::string&)>;

// $TFEMU_HOME, else $XDG_STATE_HOME/tfemu, else $HOME/.local/state/tfemu.
Result<std::string> HomeFolder(const Environment& environment);
// Letters, digits, '-' and '_', at most 32: the name becomes folders, links and cgroups. "images" and "cache"
// are folders of their own beside the clusters'.
Result<void> CheckClusterName(const std::string& name);

struct ClusterPaths {
  std::string state;   // HOME/NAME
  std::string socket;  // what a client connects to; short enough for sun_path
  std::string daemon_log;
};

// For the daemon: makes the folders (0700). When STATE/socket would be too long, the socket lies in
// $XDG_RUNTIME_DIR/tfemu or /tmp/tfemu-UID and STATE/socket is a link to it.
Result<ClusterPaths> MakeClusterPaths(const std::string& home, const std::string& name,
                                      const Environment& environment);
// For clients: makes nothing.
ClusterPaths FindClusterPaths(const std::string& home, const std::string& name);

}  // namespace tfemu::rpc
