// One run of the program: global flags, the event loop, and the connection to the cluster, made when first
// needed.
#pragma once

#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>

#include "emulator/io/asio_executor.h"
#include "emulator/rpc/paths.h"
#include "tools/cli/terminal.h"

namespace tfemu::rpc {
class Client;
}

namespace tfemu::cli {

// Exit codes fixed for every verb but `run` and `exec`.
inline constexpr int kOk = 0, kRefused = 1, kUsage = 2;

struct GlobalFlags {
  std::string cluster = "default";
  std::string ns;  // "": not given
  bool quiet = false;
};

class Session {
 public:
  Session(rpc::Environment environment, const TerminalOptions& terminal);
  ~Session();

  GlobalFlags flags;
  Terminal terminal;
  std::function<int()> action;  // what the chosen verb does; gives the exit code

  const rpc::Environment& environment() const { return environment_; }
  std::string ns() const { return flags.ns.empty() ? "default" : flags.ns; }
  boost::asio::io_context& context() { return context_; }
  io::AsioExecutor& executor() { return executor_; }
  Instant Now() const { return executor_.Now(); }

  Result<std::string> Home() const { return rpc::HomeFolder(environment_); }
  Result<rpc::ClusterPaths> Paths() const;
  // The client lives as long as the session; a cluster that went away and came back needs Disconnect first.
  Result<rpc::Client*> Connect();
  void Disconnect();
  // A supervisor of the cluster is there, whether or not a daemon is.
  bool PodsGoOn() const;

  int Fail(const Error& error);                                         // prints it; kRefused
  int Usage(const std::string& message, const std::string& hint = {});  // prints it; kUsage

 private:
  rpc::Environment environment_;
  boost::asio::io_context context_;
  io::AsioExecutor executor_;
  std::unique_ptr<rpc::Client> client_;
};

}  // namespace tfemu::cli
