#include "runtime/process/netlink.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/route.h>

namespace tfemu::process {
namespace {

template <class T, void (*kPut)(T*)>
struct Put {
  void operator()(T* object) const { kPut(object); }
};
using Link = std::unique_ptr<rtnl_link, Put<rtnl_link, rtnl_link_put>>;
using Address = std::unique_ptr<rtnl_addr, Put<rtnl_addr, rtnl_addr_put>>;
using Route = std::unique_ptr<rtnl_route, Put<rtnl_route, rtnl_route_put>>;
using Number = std::unique_ptr<nl_addr, Put<nl_addr, nl_addr_put>>;

Result<void> Outcome(const std::string& what, int code) {
  if (code >= 0) return {};
  return Error{Reason::kInternal, what + ": " + nl_geterror(code)};
}

Number Network(Ipv4 address, unsigned prefix) {
  const uint32_t wire = htonl(address);
  Number number(nl_addr_build(AF_INET, &wire, sizeof wire));
  nl_addr_set_prefixlen(number.get(), static_cast<int>(prefix));
  return number;
}

void SetHardwareAddress(rtnl_link* link, Ipv4 address) {
  auto bytes = HardwareAddress(address);
  const Number number(nl_addr_build(AF_LLC, bytes.data(), bytes.size()));
  rtnl_link_set_addr(link, number.get());
}

}  // namespace

std::array<uint8_t, 6> HardwareAddress(Ipv4 address) {
  std::array<uint8_t, 6> bytes{0x0a, 0x58};  // locally administered
  for (int i = 0; i < 4; ++i)
    bytes[static_cast<size_t>(2 + i)] = static_cast<uint8_t>(address >> (24 - 8 * i));
  return bytes;
}

Result<Ipv4> ParseIpv4(const std::string& text) {
  in_addr wire{};
  if (::inet_pton(AF_INET, text.c_str(), &wire) == 1) return Ipv4{ntohl(wire.s_addr)};
  return Error{Reason::kInvalid, "\"" + text + "\" is no IPv4 address"};
}

std::string FormatIpv4(Ipv4 address) {
  const in_addr wire{htonl(address)};
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &wire, text, sizeof text);
  return text;
}

void Netlink::Free::operator()(nl_sock* socket) const { nl_socket_free(socket); }

Result<Netlink> Netlink::Open() {
  Netlink netlink;
  netlink.socket_.reset(nl_socket_alloc());
  RETURN_IF_ERROR(Outcome("netlink", nl_connect(netlink.socket_.get(), NETLINK_ROUTE)));
  return netlink;
}

Result<void> Netlink::AddBridge(const std::string& name, int index, Ipv4 gateway) {
  const Link link(rtnl_link_alloc());
  rtnl_link_set_type(link.get(), "bridge");
  rtnl_link_set_name(link.get(), name.c_str());
  rtnl_link_set_ifindex(link.get(), index);
  rtnl_link_set_flags(link.get(), IFF_UP);
  SetHardwareAddress(link.get(), gateway);
  return Outcome("add bridge " + name, rtnl_link_add(socket_.get(), link.get(), NLM_F_CREATE | NLM_F_EXCL));
}

Result<void> Netlink::AddVeth(const VethPair& pair) {
  const Link link(rtnl_link_veth_alloc());
  rtnl_link_set_name(link.get(), pair.name.c_str());
  rtnl_link_set_ifindex(link.get(), pair.index);
  rtnl_link_set_master(link.get(), pair.bridge);
  rtnl_link_set_flags(link.get(), IFF_UP);
  const Link peer(rtnl_link_veth_get_peer(link.get()));
  for (rtnl_link* end : {link.get(), peer.get()}) {  // else a queue, with files in sysfs, for every CPU
    rtnl_link_set_num_tx_queues(end, 1);
    rtnl_link_set_num_rx_queues(end, 1);
  }
  rtnl_link_set_name(peer.get(), pair.peer_name.c_str());
  rtnl_link_set_ifindex(peer.get(), pair.peer_index);
  rtnl_link_set_ns_fd(peer.get(), pair.peer_netns);
  SetHardwareAddress(peer.get(), pair.peer_address);
  return Outcome("add veth " + pair.name,
                 rtnl_link_add(socket_.get(), link.get(), NLM_F_CREATE | NLM_F_EXCL));
}

Result<void> Netlink::DeleteLink(int index) {
  const Link link(rtnl_link_alloc());
  rtnl_link_set_ifindex(link.get(), index);
  return Outcome("delete link", rtnl_link_delete(socket_.get(), link.get()));
}

Result<void> Netlink::SetUp(int index) {
  const Link link(rtnl_link_alloc()), change(rtnl_link_alloc());
  rtnl_link_set_ifindex(link.get(), index);
  rtnl_link_set_flags(change.get(), IFF_UP);
  return Outcome("link up", rtnl_link_change(socket_.get(), link.get(), change.get(), 0));
}

Result<void> Netlink::AddAddress(int index, Ipv4 address, unsigned prefix) {
  const Address entry(rtnl_addr_alloc());
  const Number number = Network(address, prefix);
  rtnl_addr_set_ifindex(entry.get(), index);
  rtnl_addr_set_local(entry.get(), number.get());
  const int code = rtnl_addr_add(socket_.get(), entry.get(), NLM_F_CREATE | NLM_F_EXCL);
  return Outcome("add address " + FormatIpv4(address), code == -NLE_EXIST ? 0 : code);
}

Result<void> Netlink::AddDefaultRoute(int index, Ipv4 gateway) {
  const Route route(rtnl_route_alloc());
  rtnl_route_set_family(route.get(), AF_INET);
  rtnl_route_set_dst(route.get(), Network(0, 0).get());
  rtnl_nexthop* hop = rtnl_route_nh_alloc();
  rtnl_route_nh_set_ifindex(hop, index);
  rtnl_route_nh_set_gateway(hop, Network(gateway, 32).get());
  rtnl_route_add_nexthop(route.get(), hop);  // owned by the route from here
  return Outcome("add default route", rtnl_route_add(socket_.get(), route.get(), NLM_F_CREATE));
}

}  // namespace tfemu::process
