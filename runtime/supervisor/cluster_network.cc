#include "runtime/supervisor/cluster_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::supervisor {
namespace {

using process::SystemError;

constexpr unsigned kNodePrefix = 24;
constexpr Ipv4 kNodeMask = 0xffffff00;
constexpr int kPodLink =
    100;  // eth0's index in a pod: free there, whatever tunnels the kernel adds by itself

Result<UniqueFd> Duplicate(const UniqueFd& fd) {
  UniqueFd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return SystemError("duplicate a socket");
  return copy;
}

}  // namespace

Result<ClusterNetwork> ClusterNetwork::Open() {
  ASSIGN_OR_RETURN(auto netlink, process::Netlink::Open());
  ClusterNetwork network(std::move(netlink));
  RETURN_IF_ERROR(network.netlink_.SetUp(process::kLoopback));
  // Pods of different nodes reach each other through this namespace.
  RETURN_IF_ERROR(process::WriteFile("/proc/sys/net/ipv4/ip_forward", "1"));
  // Nobody speaks IPv6 on this side of the cables; its start-up traffic for each of them would only cost
  // time.
  (void)process::WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1").ok();
  network.query_.Reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!network.query_.valid()) return SystemError("socket");
  return network;
}

Result<UniqueFd> ClusterNetwork::WatchLinks() {
  UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address))
    return SystemError("watch links");
  return fd;
}

Result<int> ClusterNetwork::BridgeFor(Ipv4 gateway) {
  if (const auto known = bridges_.find(gateway); known != bridges_.end()) return known->second;
  const int index = next_bridge_++;
  RETURN_IF_ERROR(netlink_.AddBridge("node" + std::to_string(index), index, gateway));
  RETURN_IF_ERROR(netlink_.AddAddress(index, gateway, kNodePrefix));
  bridges_[gateway] = index;
  return index;
}

Result<LinkIndex> ClusterNetwork::Attach(const std::string& address, const UniqueFd& pod_net) {
  ASSIGN_OR_RETURN(const Ipv4 number, process::ParseIpv4(address));
  const Ipv4 gateway = (number & kNodeMask) + 1;
  if (number <= gateway || number == (number | ~kNodeMask))
    return Error{Reason::kInvalid, address + " is the network's, the gateway's or the broadcast address"};
  ASSIGN_OR_RETURN(const int bridge, BridgeFor(gateway));
  const LinkIndex link = next_link_++;
  RETURN_IF_ERROR(netlink_.AddVeth({.name = "pod" + std::to_string(link),
                                    .index = link,
                                    .bridge = bridge,
                                    .peer_name = "eth0",
                                    .peer_index = kPodLink,
                                    .peer_netns = pod_net.get(),
                                    .peer_address = number}));
  ASSIGN_OR_RETURN(auto pod, process::Netlink::Open());
  RETURN_IF_ERROR(pod.SetUp(process::kLoopback));
  RETURN_IF_ERROR(pod.SetUp(kPodLink));
  RETURN_IF_ERROR(pod.AddAddress(kPodLink, number, kNodePrefix));
  RETURN_IF_ERROR(pod.AddDefaultRoute(kPodLink, gateway));
  return link;
}

bool ClusterNetwork::Exists(LinkIndex link) const {
  ifreq request{};
  request.ifr_ifindex = link;
  return ::ioctl(query_.get(), SIOCGIFNAME, &request) == 0;
}

void ClusterNetwork::Delete(LinkIndex link) { (void)netlink_.DeleteLink(link).ok(); }

Result<UniqueFd> ClusterNetwork::OpenSocket(const SocketRequest& request) {
  ASSIGN_OR_RETURN(const Ipv4 number, process::ParseIpv4(request.address));
  if (number >> 24 != 127) RETURN_IF_ERROR(netlink_.AddAddress(process::kLoopback, number, 32));
  const std::string where = request.address + ":" + std::to_string(request.port);
  if (const auto kept = datagrams_.find(where); request.udp && kept != datagrams_.end())
    return Duplicate(kept->second);
  const int type = request.udp ? SOCK_DGRAM : SOCK_STREAM;
  UniqueFd fd(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(request.port);
  address.sin_addr.s_addr = htonl(number);
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address))
    return SystemError("bind " + where);
  if (request.udp) return Duplicate(datagrams_[where] = std::move(fd));
  if (::listen(fd.get(), SOMAXCONN)) return SystemError("listen on " + where);
  return fd;
}

}  // namespace tfemu::supervisor
