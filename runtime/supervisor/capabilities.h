// What root may do inside a container.
#pragma once

#include <cstdint>

#include "emulator/base/result.h"
#include "runtime/runtime.h"

namespace tfemu::supervisor {

// The capabilities that containers have on a cluster by default, as bits, with what was asked for added and
// dropped as containerd does: ALL first, then one by one. Never CAP_MKNOD: no device cgroup guards the host's
// disks here. The error names one that does not exist.
Result<uint64_t> CapabilitySet(const runtime::Privileges& privileges);

// For a child, which still is root: programs it executes get no more than these.
void BoundCapabilities(uint64_t keep);
// The last step before exec, once it is the user it is to be.
void KeepCapabilities(uint64_t keep);

}  // namespace tfemu::supervisor
