// A gRPC probe: grpc.health.v1.Health/Check over a connection that is there already.
#pragma once

#include <functional>
#include <memory>

#include "emulator/base/unique_fd.h"
#include "runtime/probe.h"

namespace tfemu::daemon {

// `done` is called once, on a thread of gRPC's, with the outcome and what the call was made of: that is to be
// let go of on another thread, for a channel that ends inside its own callback is released twice (gRPC 1.51).
// `socket` is connected.
using GrpcCall = std::shared_ptr<const void>;
void ProbeGrpc(UniqueFd socket, const runtime::ProbeRequest& request,
               std::function<void(const runtime::ProbeOutcome&, GrpcCall)> done);

}  // namespace tfemu::daemon
