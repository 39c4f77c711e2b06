// One cluster's daemon: picks the implementations, wires them, and ends them in order.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "emulator/daemon/config.h"

namespace tfemu::daemon {

// Runs the cluster until it is told to stop. `ready` is called once, when clients may connect. Returns why
// the cluster could not be started, or nothing when it has ended in good order.
Result<void> RunCluster(const Options& options, const std::function<void()>& ready);

// Ends the supervisor and the pods that a daemon which died has left, if any.
Result<void> SweepCluster(const Options& options);

}  // namespace tfemu::daemon
