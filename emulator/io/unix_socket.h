// Unix sockets by path, however long the path is.
#pragma once

#include <string>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"

namespace tfemu::io {

// Connected, blocking. kNotFound when nobody listens there.
Result<UniqueFd> ConnectUnix(const std::string& path);
// Bound in place of whatever had the name, for its owner only, not listening yet.
Result<UniqueFd> BindUnix(const std::string& path);
// The process that called listen() on the socket this one is connected to; 0 when it is not told.
int PeerPid(const UniqueFd& socket);

}  // namespace tfemu::io
