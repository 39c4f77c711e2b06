// Links, addresses and routes, by rtnetlink in the network namespace in which the object was made.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "emulator/base/result.h"

struct nl_sock;

namespace tfemu::process {

// An IPv4 address in host byte order.
using Ipv4 = uint32_t;
Result<Ipv4> ParseIpv4(const std::string& text);
std::string FormatIpv4(Ipv4 address);

// The hardware address that goes with an address: a pod that takes over the address of one that is gone is
// found in the neighbour tables of the others.
std::array<uint8_t, 6> HardwareAddress(Ipv4 address);

// A pair of ends: `name` here, up, in `bridge`; `peer_name` born in the namespace `peer_netns`, still down
// (the kernel refuses to raise an end before it has its partner).
struct VethPair {
  std::string name;
  int index = 0;   // chosen by the caller, free in this namespace
  int bridge = 0;  // its index
  std::string peer_name;
  int peer_index = 0;
  int peer_netns = -1;
  Ipv4 peer_address = 0;  // for its hardware address
};

class Netlink {
 public:
  static Result<Netlink> Open();

  // With a hardware address of its own: one borrowed from the ports would change as pods come and go.
  Result<void> AddBridge(const std::string& name, int index, Ipv4 gateway);
  // Moving an end later would cost an RCU grace period (14 ms); born there it costs half a millisecond.
  Result<void> AddVeth(const VethPair& pair);
  Result<void> DeleteLink(int index);
  Result<void> SetUp(int index);
  Result<void> AddAddress(int index, Ipv4 address, unsigned prefix);  // fine when it is there
  Result<void> AddDefaultRoute(int index, Ipv4 gateway);

 private:
  struct Free {
    void operator()(nl_sock* socket) const;
  };
  std::unique_ptr<nl_sock, Free> socket_;
};

inline constexpr int kLoopback = 1;  // its index in every network namespace

}  // namespace tfemu::process
