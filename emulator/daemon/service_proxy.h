// ClusterIP services over TCP: a listener in the cluster's network for each port, connections passed to the
// ready pods in turn (kube-proxy's userspace mode).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "emulator/api/service.h"
#include "emulator/base/unique_fd.h"
#include "emulator/io/asio_executor.h"
#include "emulator/store/store.h"

namespace tfemu::daemon {

class ServiceProxy {
 public:
  using SocketDone = std::function<void(Result<UniqueFd>)>;
  struct Sockets {
    // A listening socket in the cluster's network.
    std::function<void(const std::string& address, int port, SocketDone)> listen;
    // A socket, not yet connected, in the network of the pod with this uid.
    std::function<void(const std::string& uid, SocketDone)> open;
  };

  ServiceProxy(io::AsioExecutor& executor, const store::Store& store, Sockets sockets);
  ~ServiceProxy();

  void OnWatch(const store::WatchEvent& event);

 private:
  class Listener;
  struct Backend {
    std::string uid, address;
    int port = 0;
  };
  void Sync(const api::Service& service);
  std::optional<Backend> Pick(const api::ObjectKey& service, int port);

  io::AsioExecutor& executor_;
  const store::Store& store_;
  Sockets sockets_;
  std::map<std::string, std::shared_ptr<Listener>> listeners_;  // by "address:port"
  std::map<std::string, std::set<std::string>> of_service_;     // service uid -> its listeners
  std::map<std::string, size_t> turn_;                          // by listener
};

}  // namespace tfemu::daemon
