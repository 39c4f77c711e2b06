// The last step before exec: becoming the user that an image names.
#pragma once

#include <string>
#include <vector>

#include "emulator/base/result.h"

namespace tfemu::supervisor {

// For the child, in its root: becomes that user (see runtime/user.h) and sets HOME unless it is set. ""
// changes nothing.
Result<void> BecomeUser(const std::string& text, std::vector<std::string>& environment);

}  // namespace tfemu::supervisor
