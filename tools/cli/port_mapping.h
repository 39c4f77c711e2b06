// The ports of `port-forward`.
#pragma once

#include <string>

#include "emulator/base/result.h"

namespace tfemu::cli {

struct PortMapping {
  int local = 0;       // 0: any free one; -1: the same as the remote one, which is a name
  std::string remote;  // a number, or a container port's name
};

Result<PortMapping> ParsePortMapping(const std::string& text);

}  // namespace tfemu::cli
