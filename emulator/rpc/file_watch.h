// Tells when files grow, by inotify on the executor's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "emulator/base/result.h"

namespace tfemu::rpc {

class FileWatch {
 public:
  // `grown` is called on the executor's thread after some of the files were written to.
  FileWatch(boost::asio::io_context& context, std::function<void()> grown);
  ~FileWatch();

  Result<void> Add(const std::string& path);  // again for the same file is harmless

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tfemu::rpc
