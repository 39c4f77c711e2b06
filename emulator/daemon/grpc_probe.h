// A gRPC probe: grpc.health.v1.Health/Check over a connection that is there already.
#pragma once

#include <functional>

#include "emulator/base/unique_fd.h"
#include "runtime/probe.h"

namespace tfemu::daemon {

// `done` is called once, on a thread of gRPC's. `socket` is connected.
void ProbeGrpc(UniqueFd socket, const runtime::ProbeRequest& request,
               std::function<void(const runtime::ProbeOutcome&)> done);

}  // namespace tfemu::daemon
