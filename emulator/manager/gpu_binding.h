// What a container is given so that it sees its GPUs and no others: pure. Device plugins and container
// toolkits do this on a cluster (NVIDIA k8s-device-plugin, gpushare-device-plugin, HAMi;
// gpu-and-tensorflow 1.2 to 1.5).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/api/gpu.h"
#include "emulator/api/pod.h"
#include "runtime/gpu_files.h"
#include "runtime/runtime.h"

namespace tfemu::manager {

// What of this host goes into pods with GPUs; all paths are absolute, "" or empty where the host lacks it.
struct GpuSettings {
  std::string virtual_layer;                 // nvidia-smi and libnvidia-ml.so.1 that show virtual GPUs
  std::string shim_layer;                    // libcuda.so.1 that keeps programs to their share
  std::string cuda_driver;                   // the true libcuda.so.1
  std::vector<std::string> driver_files;     // libraries and programs of the driver
  std::vector<std::string> control_devices;  // /dev/nvidiactl, /dev/nvidia-uvm, …
  std::map<std::string, std::vector<std::string>> mig_devices;  // MIG uuid -> its capability devices
};

struct GpuBinding {
  std::map<std::string, std::string> env;
  std::vector<std::string> layers;  // over those of the image
  std::vector<runtime::Mount> mounts;
};

struct GpuBindingRequest {
  const api::Pod& pod;
  const api::Container& container;
  const api::NodeGpus& gpus;  // of the pod's node
  const GpuSettings& settings;
  runtime::GpuFolders folders;
  bool host_root = true;  // the container sees the host's /usr, with the driver in it
};
GpuBinding BindGpus(const GpuBindingRequest& request);

// The devices that a container holds, in the order in which it sees them.
std::vector<const api::Gpu*> DevicesOf(const api::NodeGpus& gpus, const std::vector<api::GpuShare>& shares);

}  // namespace tfemu::manager
