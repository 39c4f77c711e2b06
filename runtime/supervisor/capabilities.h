// What root may do inside a container.
#pragma once

namespace tfemu::supervisor {

// Leaves this process, and what it executes, the capabilities that containers have on a cluster by default,
// but for CAP_MKNOD (no device cgroup guards the host's disks here).
void KeepContainerCapabilities();

}  // namespace tfemu::supervisor
