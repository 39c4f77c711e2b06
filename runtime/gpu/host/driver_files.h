// What the NVIDIA driver has on this host's disk: what a pod with a GPU must see of it.
#pragma once

#include <string>
#include <vector>

#include "runtime/gpu/host/host_gpus.h"

namespace tfemu::gpu {

// control_devices, driver_files and cuda_driver only.
HostGpus FindDriverFiles();

// The capability devices of a MIG instance (/dev/nvidia-caps/nvidia-capN), as /proc/driver/nvidia says.
std::vector<std::string> MigDevices(const api::Gpu& instance);

}  // namespace tfemu::gpu
