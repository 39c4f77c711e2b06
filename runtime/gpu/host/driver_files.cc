#include "runtime/gpu/host/driver_files.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tfemu::gpu {
namespace {

namespace fs = std::filesystem;

// What the container toolkit mounts for the capabilities "compute" and "utility".
constexpr const char* kLibraries[] = {
    "libcuda.so",         "libcudadebugger.so",          "libnvidia-ml.so",        "libnvidia-cfg.so",
    "libnvidia-nvvm.so",  "libnvidia-ptxjitcompiler.so", "libnvidia-allocator.so", "libnvidia-gpucomp.so",
    "libnvidia-opencl.so"};
constexpr const char* kPrograms[] = {"/usr/bin/nvidia-smi", "/usr/bin/nvidia-cuda-mps-control",
                                     "/usr/bin/nvidia-cuda-mps-server"};

std::string LoadedPath(const char* name) {
  void* handle = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return "";
  const link_map* map = nullptr;
  std::string path;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) path = map->l_name;
  ::dlclose(handle);
  return path;
}

bool IsDriverLibrary(const std::string& name) {
  return std::ranges::any_of(kLibraries, [&](const char* prefix) { return name.starts_with(prefix); });
}

// "DeviceFileMinor: 3" in an access file under /proc/driver/nvidia/capabilities.
std::string CapabilityDevice(const std::string& access) {
  std::ifstream file(access);
  for (std::string key, value; file >> key >> value;)
    if (key == "DeviceFileMinor:") return "/dev/nvidia-caps/nvidia-cap" + value;
  return "";
}

}  // namespace

HostGpus FindDriverFiles() {
  HostGpus found;
  std::error_code error;
  for (const char* device :
       {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"})
    if (fs::exists(device, error)) found.control_devices.emplace_back(device);
  found.cuda_driver = LoadedPath("libcuda.so.1");
  if (found.cuda_driver.empty()) return found;
  for (const auto& entry : fs::directory_iterator(fs::path(found.cuda_driver).parent_path(), error))
    if (IsDriverLibrary(entry.path().filename().string()))
      found.driver_files.push_back(entry.path().string());
  for (const char* program : kPrograms)
    if (fs::exists(program, error)) found.driver_files.emplace_back(program);
  std::ranges::sort(found.driver_files);
  return found;
}

std::vector<std::string> MigDevices(const api::Gpu& instance) {
  const std::string base = "/proc/driver/nvidia/capabilities/gpu" + std::to_string(instance.minor) +
                           "/mig/gi" + std::to_string(instance.gpu_instance);
  std::vector<std::string> devices;
  for (const std::string& access :
       {base + "/access", base + "/ci" + std::to_string(instance.compute_instance) + "/access"})
    if (std::string device = CapabilityDevice(access); !device.empty()) devices.push_back(std::move(device));
  return devices;
}

}  // namespace tfemu::gpu
