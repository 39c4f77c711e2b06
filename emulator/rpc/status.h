// Errors across the wire: the gRPC code for tools, the whole Error in the details.
#pragma once

#include <grpcpp/support/status.h>

#include "emulator/base/result.h"

namespace tfemu::rpc {

grpc::Status ToStatus(const Error& error);
// `status` must not be OK. A status that no server of ours made (no connection) becomes kUnavailable.
Error FromStatus(const grpc::Status& status);

}  // namespace tfemu::rpc
