#include "runtime/gpu/host/host_gpus.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "emulator/base/strings.h"
#include "runtime/gpu/host/driver_files.h"
#include "runtime/gpu/host/nvml.h"

namespace tfemu::gpu {
namespace {

using api::Gpu;
using Device = Nvml::Device;

constexpr unsigned kMostLinks = 18;

std::string TextOf(const Nvml& nvml, const char* call, Device device) {
  char text[96] = "";
  return nvml.Call(call, device, text, static_cast<unsigned>(sizeof text)) == 0 ? text : "";
}

std::string DriverVersion(const Nvml& nvml) {
  char text[96] = "";
  return nvml.Call("nvmlSystemGetDriverVersion", text, static_cast<unsigned>(sizeof text)) == 0 ? text : "";
}

std::string CudaVersion(const Nvml& nvml) {
  int version = 0;
  if (nvml.Call("nvmlSystemGetCudaDriverVersion_v2", &version) != 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int NumaOf(const std::string& pci) {
  // sysfs has the domain in four digits: 0000:17:00.0
  std::ifstream file("/sys/bus/pci/devices/" + ToLower(pci.size() > 12 ? pci.substr(pci.size() - 12) : pci) +
                     "/numa_node");
  int node = 0;
  return file >> node && node > 0 ? node : 0;
}

// Nothing of one that fell off the bus: the driver may still know its name.
std::optional<Gpu> ReadGpu(const Nvml& nvml, unsigned index, Device device) {
  Gpu gpu;
  gpu.index = static_cast<int>(index);
  gpu.uuid = TextOf(nvml, "nvmlDeviceGetUUID", device);
  if (gpu.uuid.empty()) return std::nullopt;
  gpu.model = TextOf(nvml, "nvmlDeviceGetName", device);
  Nvml::Memory memory{};
  const int answer = nvml.Call("nvmlDeviceGetMemoryInfo", device, &memory);
  if (answer == Nvml::kGpuIsLost) return std::nullopt;
  if (answer == 0) gpu.memory_bytes = static_cast<int64_t>(memory.total);
  Nvml::Pci pci{};
  if (nvml.Call("nvmlDeviceGetPciInfo_v3", device, &pci) == 0) gpu.pci = pci.bus_id;
  unsigned minor = 0, limit = 0;
  if (nvml.Call("nvmlDeviceGetMinorNumber", device, &minor) == 0) gpu.minor = static_cast<int>(minor);
  if (nvml.Call("nvmlDeviceGetPowerManagementLimit", device, &limit) == 0)
    gpu.power_limit_watts = static_cast<int>(limit / 1000);
  int major = 0, lesser = 0;
  if (nvml.Call("nvmlDeviceGetCudaComputeCapability", device, &major, &lesser) == 0)
    gpu.compute_capability = std::to_string(major) + "." + std::to_string(lesser);
  gpu.numa = NumaOf(gpu.pci);
  return gpu;
}

void ReadLinks(const Nvml& nvml, Device device, Gpu& gpu, const std::vector<Gpu>& all) {
  for (unsigned link = 0; link < kMostLinks; ++link) {
    unsigned active = 0;
    Nvml::Pci remote{};
    if (nvml.Call("nvmlDeviceGetNvLinkState", device, link, &active) != 0 || active == 0) continue;
    if (nvml.Call("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, &remote) != 0) continue;
    const bool direct = [&] {
      for (const Gpu& other : all)
        if (other.pci == remote.bus_id) return ++gpu.links[other.index], true;
      return false;
    }();
    // The far end is a switch: every GPU on it is reached over every link.
    if (!direct)
      for (const Gpu& other : all)
        if (other.index != gpu.index) ++gpu.links[other.index];
  }
}

// "NVIDIA A100-SXM4-40GB MIG 1g.5gb" -> "1g.5gb".
std::string ProfileOf(const std::string& name) {
  const size_t at = name.rfind("MIG ");
  return at == std::string::npos ? "unknown" : name.substr(at + 4);
}

void ReadInstances(const Nvml& nvml, Device device, const Gpu& gpu, std::vector<Gpu>& devices) {
  unsigned current = 0, pending = 0, most = 0;
  if (nvml.Call("nvmlDeviceGetMigMode", device, &current, &pending) != 0 || current == 0) return;
  if (nvml.Call("nvmlDeviceGetMaxMigDeviceCount", device, &most) != 0) return;
  for (unsigned i = 0; i < most; ++i) {
    Device instance = nullptr;
    if (nvml.Call("nvmlDeviceGetMigDeviceHandleByIndex", device, i, &instance) != 0) continue;  // a hole
    Gpu mig = gpu;
    mig.links.clear();
    mig.uuid = TextOf(nvml, "nvmlDeviceGetUUID", instance);
    mig.mig_profile = ProfileOf(TextOf(nvml, "nvmlDeviceGetName", instance));
    mig.parent = gpu.uuid;
    unsigned id = 0;
    if (nvml.Call("nvmlDeviceGetGpuInstanceId", instance, &id) == 0) mig.gpu_instance = static_cast<int>(id);
    if (nvml.Call("nvmlDeviceGetComputeInstanceId", instance, &id) == 0)
      mig.compute_instance = static_cast<int>(id);
    Nvml::Attributes attributes{};
    if (nvml.Call("nvmlDeviceGetAttributes_v2", instance, &attributes) == 0)
      mig.memory_bytes = static_cast<int64_t>(attributes.memory_mb << 20);
    if (!mig.uuid.empty()) devices.push_back(std::move(mig));
  }
}

}  // namespace

Result<HostGpus> ReadHostGpus(const std::string& library) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Nvml> nvml, Nvml::Open(library));
  unsigned count = 0;
  if (const int code = nvml->Call("nvmlDeviceGetCount_v2", &count); code != 0)
    return Error{Reason::kUnavailable, "the NVIDIA driver counts no GPUs: " + nvml->ErrorText(code)};
  std::vector<Gpu> whole;
  std::vector<Device> handles;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (nvml->Call("nvmlDeviceGetHandleByIndex_v2", i, &device) != 0) continue;
    std::optional<Gpu> gpu = ReadGpu(*nvml, i, device);
    if (!gpu) continue;
    gpu->driver = DriverVersion(*nvml);
    gpu->cuda = CudaVersion(*nvml);
    whole.push_back(std::move(*gpu));
    handles.push_back(device);
  }
  HostGpus host = FindDriverFiles();
  for (size_t i = 0; i < whole.size(); ++i) {
    ReadLinks(*nvml, handles[i], whole[i], whole);
    host.devices.push_back(whole[i]);
    ReadInstances(*nvml, handles[i], whole[i], host.devices);
  }
  for (const Gpu& gpu : host.devices)
    if (!gpu.mig_profile.empty()) host.mig_devices[gpu.uuid] = MigDevices(gpu);
  return host;
}

nlohmann::json Encode(const HostGpus& gpus) {
  return {{"gpus", api::EncodeGpus({gpus.devices, {}})},
          {"migDevices", gpus.mig_devices},
          {"controlDevices", gpus.control_devices},
          {"driverFiles", gpus.driver_files},
          {"cudaDriver", gpus.cuda_driver}};
}

HostGpus Decode(const nlohmann::json& doc) {
  HostGpus gpus;
  gpus.devices = api::DecodeGpus(doc.at("gpus")).devices;
  doc.at("migDevices").get_to(gpus.mig_devices);
  doc.at("controlDevices").get_to(gpus.control_devices);
  doc.at("driverFiles").get_to(gpus.driver_files);
  doc.at("cudaDriver").get_to(gpus.cuda_driver);
  return gpus;
}

}  // namespace tfemu::gpu
