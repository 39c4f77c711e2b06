// Runs a host program to its end, line by line, without blocking the event loop.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "emulator/base/result.h"

namespace tfemu::image {

struct ChildOptions {
  std::vector<std::string> argv;  // argv[0] is an absolute path
  std::string working_dir = "/";
  int kept_fd = -1;                                 // the child holds a copy of it for as long as it lives
  std::function<void(const std::string&)> on_line;  // stdout and stderr as one stream, without line ends
};

// The exit code, 128+n for a signal. Destroying the coroutine kills the child and everything it started.
boost::asio::awaitable<Result<int>> RunChild(ChildOptions options);

}  // namespace tfemu::image
