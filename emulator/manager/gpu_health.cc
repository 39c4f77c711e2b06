#include "emulator/manager/gpu_health.h"

#include <algorithm>

namespace tfemu::manager {
namespace {

using api::Gpu;

std::string HealthOf(const Gpu& gpu, const Result<std::vector<Gpu>>& host) {
  if (!host.ok()) return host.error().message;
  const bool there = std::ranges::find(host.value(), gpu.uuid, &Gpu::uuid) != host.value().end();
  if (there) return "";
  return gpu.mig_profile.empty() ? "lost" : "its MIG instance is gone";
}

// Instances that were made since on a GPU that the node has.
void AddInstances(api::NodeGpus& gpus, const std::vector<Gpu>& host, std::vector<GpuNews>& news) {
  for (const Gpu& gpu : host) {
    if (gpu.mig_profile.empty() || gpus.Find(gpu.uuid) != nullptr || gpus.Find(gpu.parent) == nullptr)
      continue;
    news.push_back({gpu.uuid, "GPU " + gpu.parent + " has a new MIG instance " + gpu.mig_profile, false});
    gpus.devices.push_back(gpu);
  }
}

}  // namespace

std::vector<GpuNews> UpdateHealth(api::NodeGpus& gpus, const Result<std::vector<Gpu>>& host) {
  std::vector<GpuNews> news;
  for (Gpu& gpu : gpus.devices) {
    if (gpu.is_virtual()) continue;
    const std::string health = HealthOf(gpu, host);
    if (health == gpu.health) continue;
    if (health.empty()) news.push_back({gpu.uuid, "GPU " + gpu.uuid + " is there again", false});
    else news.push_back({gpu.uuid, "GPU " + gpu.uuid + " is not given to pods any more: " + health, true});
    gpu.health = health;
  }
  if (host.ok()) AddInstances(gpus, host.value(), news);
  return news;
}

}  // namespace tfemu::manager
