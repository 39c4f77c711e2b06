#include "emulator/manager/gpu_binding.h"

#include <algorithm>

#include "emulator/base/strings.h"
#include "runtime/gpu/contract.h"

namespace tfemu::manager {
namespace {

using api::Gpu;
using api::GpuShare;
using api::GpuSharing;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = kMiB << 10;
constexpr const char* kShimFolder = "/opt/tfemu/lib";

bool Asked(const api::Container& container, const std::string& resource) {
  return container.limits.contains(resource);
}

std::string Uuids(const std::vector<const Gpu*>& devices) {
  std::vector<std::string> uuids;
  for (const Gpu* gpu : devices) uuids.push_back(gpu->uuid);
  return Join(uuids, ",");
}

class Binder {
 public:
  explicit Binder(const GpuBindingRequest& request) : request_(request) {}

  GpuBinding Run() {
    const api::GpuShares all = api::GpuSharesOf(request_.pod.meta);
    const auto mine = all.find(request_.container.name);
    if (mine != all.end()) shares_ = mine->second;
    devices_ = DevicesOf(request_.gpus, shares_);
    if (devices_.empty()) {
      // The empty list hides every GPU from CUDA: a PS must not grab the first one.
      binding_.env = {{"CUDA_VISIBLE_DEVICES", ""}, {"NVIDIA_VISIBLE_DEVICES", "void"}};
      return std::move(binding_);
    }
    binding_.env["NVIDIA_VISIBLE_DEVICES"] = Uuids(devices_);
    if (devices_.front()->is_virtual()) BindVirtual();
    else BindReal();
    BindShare();
    return std::move(binding_);
  }

 private:
  void Mount(const std::string& source, const std::string& target, bool read_only) {
    binding_.mounts.push_back({"", "", target, read_only, source});
  }

  // There is nothing to compute on: CUDA sees no device, the tools see what was given.
  void BindVirtual() {
    binding_.env["CUDA_VISIBLE_DEVICES"] = "";
    if (!request_.settings.virtual_layer.empty()) binding_.layers.push_back(request_.settings.virtual_layer);
    Mount(request_.folders.devices, TFEMU_GPU_FOLDER, true);
    Mount(request_.folders.use, TFEMU_GPU_USE_FOLDER, false);
  }

  void BindReal() {
    binding_.env["CUDA_VISIBLE_DEVICES"] = Uuids(devices_);
    binding_.env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
    for (const auto& device : request_.settings.control_devices) Mount(device, device, false);
    for (const Gpu* gpu : devices_) {
      const std::string node = "/dev/nvidia" + std::to_string(gpu->minor);
      if (gpu->minor >= 0) Mount(node, node, false);
      const auto caps = request_.settings.mig_devices.find(gpu->uuid);
      if (caps == request_.settings.mig_devices.end()) continue;
      for (const auto& device : caps->second) Mount(device, device, false);
    }
    if (!request_.host_root)
      for (const auto& file : request_.settings.driver_files) Mount(file, file, true);
  }

  // A share of a device, or one of several holders of it.
  void BindShare() {
    const bool part = std::ranges::any_of(
        shares_, [](const GpuShare& share) { return share.memory_bytes > 0 || share.cores > 0; });
    if (!part && request_.gpus.sharing.mode != GpuSharing::Mode::kTimeSlicing) return;
    binding_.env["TF_FORCE_GPU_ALLOW_GROWTH"] = "true";  // else the first one maps all of the memory
    if (!part) return;
    if (Asked(request_.container, "aliyun.com/gpu-mem")) DescribeGpushare();
    else DescribeHami();
    if (!devices_.front()->is_virtual()) BindShim();
  }

  void DescribeGpushare() {
    int64_t container = 0, pod = 0;
    for (const GpuShare& share : shares_) container += share.memory_bytes;
    for (const auto& [name, list] : api::GpuSharesOf(request_.pod.meta))
      for (const GpuShare& share : list) pod += share.memory_bytes;
    std::vector<std::string> indices;
    for (const Gpu* gpu : devices_) indices.push_back(std::to_string(gpu->index));
    binding_.env["ALIYUN_COM_GPU_MEM_IDX"] = Join(indices, ",");
    binding_.env["ALIYUN_COM_GPU_MEM_CONTAINER"] = std::to_string(container / kGiB);
    binding_.env["ALIYUN_COM_GPU_MEM_POD"] = std::to_string(pod / kGiB);
    binding_.env["ALIYUN_COM_GPU_MEM_DEV"] = std::to_string(devices_.front()->memory_bytes / kGiB);
  }

  void DescribeHami() {
    for (size_t i = 0; i < shares_.size(); ++i) {
      const GpuShare& share = shares_[i];
      if (share.memory_bytes > 0)
        binding_.env["CUDA_DEVICE_MEMORY_LIMIT_" + std::to_string(i)] =
            std::to_string(share.memory_bytes / kMiB) + "m";
      if (share.cores > 0) binding_.env["CUDA_DEVICE_SM_LIMIT"] = std::to_string(share.cores);
    }
  }

  void BindShim() {
    if (request_.settings.shim_layer.empty() || request_.settings.cuda_driver.empty()) return;
    std::vector<std::string> memory, cores;
    for (const GpuShare& share : shares_) {
      memory.push_back(share.uuid + "=" + std::to_string(share.memory_bytes));
      cores.push_back(share.uuid + "=" + std::to_string(share.cores));
    }
    binding_.layers.push_back(request_.settings.shim_layer);
    Mount(request_.folders.use, TFEMU_GPU_USE_FOLDER, false);
    binding_.env["LD_LIBRARY_PATH"] = kShimFolder;
    binding_.env[TFEMU_CUDA_DRIVER_VARIABLE] = request_.settings.cuda_driver;
    binding_.env[TFEMU_GPU_MEMORY_LIMIT_VARIABLE] = Join(memory, ",");
    binding_.env[TFEMU_GPU_CORE_LIMIT_VARIABLE] = Join(cores, ",");
    binding_.env[TFEMU_GPU_ACCOUNTING_VARIABLE] = std::string(TFEMU_GPU_USE_FOLDER) + "/accounting";
  }

  const GpuBindingRequest& request_;
  std::vector<GpuShare> shares_;
  std::vector<const Gpu*> devices_;
  GpuBinding binding_;
};

}  // namespace

std::vector<const Gpu*> DevicesOf(const api::NodeGpus& gpus, const std::vector<GpuShare>& shares) {
  std::vector<const Gpu*> devices;
  for (const GpuShare& share : shares)
    if (const Gpu* gpu = gpus.Find(share.uuid)) devices.push_back(gpu);
  return devices;
}

GpuBinding BindGpus(const GpuBindingRequest& request) { return Binder(request).Run(); }

}  // namespace tfemu::manager
