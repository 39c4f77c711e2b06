// The last step before exec: becoming the user that an image names.
#pragma once

#include <string>
#include <vector>

#include "emulator/base/result.h"
#include "runtime/runtime.h"

namespace tfemu::supervisor {

struct Identity {
  std::string user;             // "" stays root
  std::vector<int64_t> groups;  // besides those of the user
  runtime::Privileges privileges = {};
};

// For the child, in its root: becomes that user (see runtime/user.h) with its capabilities, and sets HOME
// unless it is set.
Result<void> BecomeUser(const Identity& identity, std::vector<std::string>& environment);

}  // namespace tfemu::supervisor
