// What containers with and without GPUs are given, and what the ones with them are shown.
#include "emulator/manager/gpu_binding.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "emulator/api/gpu_models.h"
#include "emulator/manager/gpu_board.h"

namespace tfemu::manager {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

struct Case {
  api::NodeGpus gpus{api::MakeVirtualGpus({"A10", 2, 0, 0, {}}).value(), {}};
  api::Pod pod;
  GpuSettings settings{"/layers/virtual",       "/layers/shim",     "/usr/lib/libcuda.so.1",
                       {"/usr/bin/nvidia-smi"}, {"/dev/nvidiactl"}, {}};

  Case() {
    pod.spec.containers.push_back({});
    pod.spec.containers[0].name = "c";
  }
  void MakeReal() {
    for (size_t i = 0; i < gpus.devices.size(); ++i) {
      gpus.devices[i].uuid = "GPU-a5e0000" + std::to_string(i);
      gpus.devices[i].minor = static_cast<int>(i);
    }
  }
  void Hold(std::vector<api::GpuShare> shares) {
    pod.meta.annotations[api::kGpuAnnotation] = api::EncodeGpuShares({{"c", std::move(shares)}});
  }
  GpuBinding Bind(bool host_root = true) {
    return BindGpus({pod, pod.spec.containers[0], gpus, settings, {"/gpu/devices", "/gpu/use"}, host_root});
  }
};

bool Mounts(const GpuBinding& binding, const std::string& target) {
  return std::ranges::find(binding.mounts, target, &runtime::Mount::target) != binding.mounts.end();
}

TEST_CASE("a container that asks for no GPU sees none") {
  Case c;
  const auto binding = c.Bind();
  CHECK(binding.env.at("CUDA_VISIBLE_DEVICES").empty());
  CHECK(binding.env.at("NVIDIA_VISIBLE_DEVICES") == "void");
  CHECK(binding.mounts.empty());
  CHECK(binding.layers.empty());
}

TEST_CASE("a real GPU: bound by UUID, its own device and the driver's, no others") {
  Case c;
  c.MakeReal();
  c.Hold({{c.gpus.devices[1].uuid, 0, 0}});
  const auto binding = c.Bind();
  CHECK(binding.env.at("CUDA_VISIBLE_DEVICES") == "GPU-a5e00001");
  CHECK(binding.env.at("NVIDIA_VISIBLE_DEVICES") == "GPU-a5e00001");
  CHECK(Mounts(binding, "/dev/nvidia1"));
  CHECK(Mounts(binding, "/dev/nvidiactl"));
  CHECK_FALSE(Mounts(binding, "/dev/nvidia0"));
  CHECK_FALSE(Mounts(binding, "/usr/bin/nvidia-smi"));  // the host's /usr has it
  CHECK(Mounts(c.Bind(false), "/usr/bin/nvidia-smi"));
  CHECK_FALSE(binding.env.contains("TF_FORCE_GPU_ALLOW_GROWTH"));
}

TEST_CASE("a share of a real GPU: the shim keeps it, in gpushare's or HAMi's words") {
  Case c;
  c.MakeReal();
  c.gpus.sharing.mode = api::GpuSharing::Mode::kMemory;
  c.Hold({{c.gpus.devices[0].uuid, 8 * kGiB, 0}});
  c.pod.spec.containers[0].limits["aliyun.com/gpu-mem"] = {8000};
  auto binding = c.Bind();
  CHECK(binding.env.at("TFEMU_GPU_MEMORY_LIMIT") == "GPU-a5e00000=8589934592");
  CHECK(binding.env.at("TF_FORCE_GPU_ALLOW_GROWTH") == "true");
  CHECK(binding.env.at("ALIYUN_COM_GPU_MEM_CONTAINER") == "8");
  CHECK(binding.env.at("ALIYUN_COM_GPU_MEM_DEV") == "24");
  CHECK(binding.layers == std::vector<std::string>{"/layers/shim"});
  c.pod.spec.containers[0].limits = {{"nvidia.com/gpumem", {8192'000}}};
  CHECK(c.Bind().env.at("CUDA_DEVICE_MEMORY_LIMIT_0") == "8192m");
}

TEST_CASE("a virtual GPU: the tools see it, CUDA sees none") {
  Case c;
  c.Hold({{c.gpus.devices[0].uuid, 0, 0}});
  const auto binding = c.Bind();
  CHECK(binding.env.at("CUDA_VISIBLE_DEVICES").empty());
  CHECK(binding.env.at("NVIDIA_VISIBLE_DEVICES") == c.gpus.devices[0].uuid);
  CHECK(binding.layers == std::vector<std::string>{"/layers/virtual"});
  CHECK(Mounts(binding, "/run/tfemu/gpu"));
}

TEST_CASE("a holder that reports nothing counts as busy; one that does, by what it says") {
  Case c;
  GpuHolder holder{"u",  "ns", "pod", "c", "node-1", "python", {{c.gpus.devices[0].uuid, 0, 0}},
                   true, {},   {},    {}};
  auto usage = UsageOf("node-1", c.gpus.devices[0], {&holder});
  CHECK(usage.utilization == 100);
  CHECK(usage.used_bytes == 24 * kGiB);
  holder.reports = {{7, 0, 1'000'000'000, kGiB}};
  holder.reported_at = {10'000'000'000};
  const std::vector<runtime::GpuReport> next{{7, 0, 1'250'000'000, 2 * kGiB}};
  holder.loads = LoadsFrom(holder, next, {11'000'000'000});
  usage = UsageOf("node-1", c.gpus.devices[0], {&holder});
  CHECK(usage.utilization == 25);
  CHECK(usage.used_bytes == 2 * kGiB);
  CHECK(UsageOf("node-1", c.gpus.devices[1], {&holder}).holders.empty());
}

TEST_CASE("a pod sees its own devices, numbered from 0, with a share's size") {
  Case c;
  const GpuHolder other{"u",  "ns", "a", "c", "n", "x", {{c.gpus.devices[1].uuid, 4 * kGiB, 0}},
                        true, {},   {},  {}};
  const GpuHolder viewer{"v",  "ns", "b", "c", "n", "y", {{c.gpus.devices[1].uuid, 8 * kGiB, 50}},
                         true, {},   {},  {}};
  const std::string text = DevicesFile(c.gpus, viewer, {&other, &viewer});
  CHECK(text.starts_with("tfemu-gpus 1\ngpu\tindex=0\tuuid=GPU-00000000-0000-0000-0000-000000000001\t"));
  CHECK(text.find("\tmemory_bytes=8589934592\tused_bytes=8589934592\tutilization=50\t") != std::string::npos);
  CHECK(text.find("index=1") == std::string::npos);
  CHECK(text.find("process\tindex=0\tpid=1\tname=y\tused_bytes=8589934592\n") != std::string::npos);
}

}  // namespace
}  // namespace tfemu::manager
