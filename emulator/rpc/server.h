// The daemon's gRPC server on a unix socket.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "emulator/base/result.h"
#include "emulator/rpc/backend.h"

namespace grpc {
class Channel;
}

namespace tfemu::rpc {

class ClusterService;

// Used on the executor's thread.
class Server {
 public:
  explicit Server(const Backend& backend);
  ~Server();  // after Stop has called back, or before Start

  // Listens on `socket_path`, a folder's member nobody else uses; a stale socket there is replaced.
  Result<void> Start(const std::string& socket_path);
  // Ends all calls and removes the socket; `stopped` is posted. The executor must go on running until then.
  void Stop(std::function<void()> stopped);
  // For tests: a channel without a socket.
  std::shared_ptr<grpc::Channel> InProcessChannel();

 private:
  struct Running;
  Backend backend_;
  std::unique_ptr<Running> running_;
};

}  // namespace tfemu::rpc
