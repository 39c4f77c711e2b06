// Addresses of pods: the next free one of a node's /24, so that a freed address is not given out again at
// once.
#pragma once

#include <map>
#include <set>
#include <string>

#include "emulator/base/result.h"

namespace tfemu::manager {

class AddressPool {
 public:
  // `cidr` is a /24 such as 10.244.0.0/24; .1 is the gateway.
  Result<std::string> Take(const std::string& cidr);
  void Give(const std::string& address);
  // In use already, by a pod that was started before this pool was made.
  void Reserve(const std::string& address) { taken_.insert(address); }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // by cidr
};

}  // namespace tfemu::manager
