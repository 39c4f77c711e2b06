// Starting and ending the daemon of a cluster.
#pragma once

#include <map>
#include <string>

#include "tfemu.pb.h"
#include "tools/cli/session.h"

namespace tfemu::cli {

struct UpOptions {
  std::string config;                                        // path of a cluster.yaml
  std::string nodes, cpus, gpus, gpu_model, eci, isolation;  // "": the daemon's default
  bool ephemeral = false;                                    // the state goes with the cluster

  // Flag and value, as the daemon takes them; also what a second `up` must agree with.
  std::map<std::string, std::string> Flags() const;
};

// The daemon program: $TFEMU_DAEMON, beside this program, in ../libexec, or in the build tree.
Result<std::string> FindDaemon(const rpc::Environment& environment);
// Starts it detached and returns when it says it is ready.
Result<void> StartDaemon(Session& session, const UpOptions& options);
// Without a daemon: ends the pods that one which died has left, and removes what they leave.
Result<void> SweepCluster(Session& session);
// The session's cluster when it is up as `options` ask, else a new one, named after `verb` where a state that
// is to be kept has the name; true: it was started. kConflict: it is up and differs.
Result<bool> UseOrStart(Session& session, const UpOptions& options, const std::string& verb);
// Stops pods and daemon and returns when the process is gone; `purge` removes the state.
Result<void> StopDaemon(Session& session, bool purge);
// "" when the running cluster was started as `options` ask, else what differs.
std::string DifferenceFrom(const rpc::v1::InfoReply& info, const UpOptions& options);

}  // namespace tfemu::cli
