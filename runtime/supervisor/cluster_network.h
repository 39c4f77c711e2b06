// The cluster's own network namespace: a bridge for each /24 of pods, a gateway on it, service addresses on
// lo.
#pragma once

#include <map>
#include <string>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"
#include "runtime/process/netlink.h"

namespace tfemu::supervisor {

using process::Ipv4;

// A pod's link, by its index in the cluster's namespace.
using LinkIndex = int;

class ClusterNetwork {
 public:
  // The caller is in the cluster's fresh namespace.
  static Result<ClusterNetwork> Open();

  // To be called inside the pod's namespace, `pod_net`: gives it `address` and a default route. Pods of one
  // /24 share a bridge, so a simulated node with a range of its own has a bridge of its own.
  Result<LinkIndex> Attach(const std::string& address, const UniqueFd& pod_net);
  // The rest to be called in the cluster's namespace.
  // A pod's link goes when its namespace does, a little later, in the kernel's own time.
  bool Exists(LinkIndex link) const;
  void Delete(LinkIndex link);
  // A descriptor that becomes readable when a link comes or goes from now on.
  static Result<UniqueFd> WatchLinks();

  struct SocketRequest {
    std::string address;
    uint16_t port = 0;
    bool udp = false;
  };
  // Bound, and listening when it is TCP; the address is put on lo when absent.
  Result<UniqueFd> OpenSocket(const SocketRequest& request);

 private:
  explicit ClusterNetwork(process::Netlink netlink) : netlink_(std::move(netlink)) {}
  Result<int> BridgeFor(Ipv4 gateway);

  process::Netlink netlink_;
  UniqueFd query_;
  std::map<Ipv4, int> bridges_;  // gateway -> index
  // Kept open, so that what pods ask the cluster's DNS while no daemon runs waits for the next one.
  std::map<std::string, UniqueFd> datagrams_;  // by "address:port"
  int next_bridge_ = 10;
  LinkIndex next_link_ = 1000;
};

}  // namespace tfemu::supervisor
