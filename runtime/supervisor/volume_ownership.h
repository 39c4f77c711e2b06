// fsGroup: gives what is in a volume to a group, as the kubelet does before the containers start.
#pragma once

#include <string>

#include "emulator/base/result.h"
#include "runtime/runtime.h"

namespace tfemu::supervisor {

// Group, group bits, and on folders the setgid bit, so that new files are the group's as well. Symbolic links
// are not followed.
Result<void> GiveToGroup(const runtime::Volume& volume, const std::string& path);

}  // namespace tfemu::supervisor
