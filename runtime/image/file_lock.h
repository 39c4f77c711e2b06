// A lock that several processes of a user share, given up when its holder ends, however it ends.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"

namespace tfemu::image {

// Waits for as long as it takes; `on_wait` is called once when somebody else holds the lock. It is held until
// the last copy of the descriptor is closed, copies in child processes included.
boost::asio::awaitable<Result<UniqueFd>> LockFile(std::string path, std::function<void()> on_wait);

}  // namespace tfemu::image
