#include "emulator/manager/address_pool.h"

namespace tfemu::manager {
namespace {

constexpr int kFirst = 2, kLast = 254;

}  // namespace

Result<std::string> AddressPool::Take(const std::string& cidr) {
  const std::string prefix = cidr.substr(0, cidr.rfind('.') + 1);
  int& last = last_.try_emplace(cidr, kFirst - 1).first->second;
  for (int tries = kFirst; tries <= kLast; ++tries) {
    last = last == kLast ? kFirst : last + 1;
    const std::string address = prefix + std::to_string(last);
    if (taken_.insert(address).second) return address;
  }
  return Error{Reason::kUnavailable, "no address is left in " + cidr};
}

void AddressPool::Give(const std::string& address) { taken_.erase(address); }

}  // namespace tfemu::manager
