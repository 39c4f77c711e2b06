#include "emulator/api/gpu.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"

namespace tfemu::api {
namespace {

using nlohmann::json;

constexpr int64_t kGiB = int64_t{1} << 30;

const char* Name(GpuSharing::Mode mode) {
  switch (mode) {
    case GpuSharing::Mode::kNone: return "none";
    case GpuSharing::Mode::kTimeSlicing: return "timeSlicing";
    case GpuSharing::Mode::kMemory: return "memory";
  }
  return "none";
}

GpuSharing::Mode SharingMode(const std::string& name) {
  if (name == "timeSlicing") return GpuSharing::Mode::kTimeSlicing;
  if (name == "memory") return GpuSharing::Mode::kMemory;
  return GpuSharing::Mode::kNone;
}

json EncodeGpu(const Gpu& gpu) {
  json doc = {{"index", gpu.index},
              {"uuid", gpu.uuid},
              {"model", gpu.model},
              {"memoryBytes", gpu.memory_bytes},
              {"pci", gpu.pci},
              {"minor", gpu.minor},
              {"numa", gpu.numa},
              {"driver", gpu.driver},
              {"cuda", gpu.cuda},
              {"computeCapability", gpu.compute_capability},
              {"powerLimitWatts", gpu.power_limit_watts}};
  for (const auto& [other, count] : gpu.links) doc["links"][std::to_string(other)] = count;
  if (!gpu.mig_profile.empty())
    doc["mig"] = {{"profile", gpu.mig_profile},
                  {"parent", gpu.parent},
                  {"gpuInstance", gpu.gpu_instance},
                  {"computeInstance", gpu.compute_instance}};
  if (!gpu.health.empty()) doc["health"] = gpu.health;
  return doc;
}

int IntOr(const json& doc, const char* name, int otherwise) {
  return static_cast<int>(Int(doc, name).value_or(otherwise));
}

Gpu DecodeGpu(const json& doc) {
  Gpu gpu;
  gpu.index = IntOr(doc, "index", 0);
  gpu.uuid = Text(doc, "uuid");
  gpu.model = Text(doc, "model");
  gpu.memory_bytes = Int(doc, "memoryBytes").value_or(0);
  gpu.pci = Text(doc, "pci");
  gpu.minor = IntOr(doc, "minor", -1);
  gpu.numa = IntOr(doc, "numa", 0);
  gpu.driver = Text(doc, "driver");
  gpu.cuda = Text(doc, "cuda");
  gpu.compute_capability = Text(doc, "computeCapability");
  gpu.power_limit_watts = IntOr(doc, "powerLimitWatts", 0);
  if (const json& links = Member(doc, "links"); links.is_object())
    for (const auto& [other, count] : links.items())
      if (count.is_number_integer()) gpu.links[std::atoi(other.c_str())] = count.get<int>();
  const json& mig = Member(doc, "mig");
  gpu.mig_profile = Text(mig, "profile");
  gpu.parent = Text(mig, "parent");
  gpu.gpu_instance = IntOr(mig, "gpuInstance", -1);
  gpu.compute_instance = IntOr(mig, "computeInstance", -1);
  gpu.health = Text(doc, "health");
  return gpu;
}

json ParseAnnotation(const ObjectMeta& meta) {
  const auto it = meta.annotations.find(kGpuAnnotation);
  return it == meta.annotations.end() ? json() : json::parse(it->second, nullptr, false);
}

}  // namespace

bool Gpu::is_virtual() const {
  return uuid.starts_with(kVirtualGpuPrefix) || uuid.starts_with(kVirtualMigPrefix);
}

const Gpu* NodeGpus::Find(const std::string& uuid) const {
  const auto it = std::ranges::find(devices, uuid, &Gpu::uuid);
  return it == devices.end() ? nullptr : &*it;
}

std::string GpuSummary(const NodeGpus& gpus) {
  std::vector<std::pair<std::string, int>> counts;
  for (const Gpu& gpu : gpus.devices) {
    const std::string name = gpu.model + (gpu.mig_profile.empty() ? "" : " MIG " + gpu.mig_profile) +
                             (gpu.is_virtual() ? " (virtual)" : "") +
                             (gpu.health.empty() ? "" : " [" + gpu.health + "]");
    const auto known = std::ranges::find(counts, name, &std::pair<std::string, int>::first);
    if (known != counts.end()) ++known->second;
    else counts.emplace_back(name, 1);
  }
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " x " + name;
  return text.empty() ? "<none>" : text;
}

Resources GpuResources(const NodeGpus& gpus) {
  const bool by_memory = gpus.sharing.mode == GpuSharing::Mode::kMemory;
  const std::string whole = gpus.sharing.rename ? "nvidia.com/gpu.shared" : "nvidia.com/gpu";
  Resources resources;
  const auto add = [&](const std::string& name, int64_t units) { resources[name].milli += units * 1000; };
  for (const Gpu& gpu : gpus.devices) {
    if (!gpu.health.empty()) continue;
    if (!gpu.mig_profile.empty()) {
      add("nvidia.com/mig-" + gpu.mig_profile, 1);
      continue;
    }
    const bool split = std::ranges::any_of(gpus.devices, [&](const Gpu& g) { return g.parent == gpu.uuid; });
    if (split) continue;  // a GPU in MIG mode is offered by its instances only
    add(whole, gpus.sharing.mode == GpuSharing::Mode::kNone ? 1 : gpus.sharing.replicas);
    if (!by_memory) continue;
    add("aliyun.com/gpu-mem", gpu.memory_bytes / kGiB);
    add("aliyun.com/gpu-count", 1);
  }
  return resources;
}

json EncodeGpus(const NodeGpus& gpus) {
  json devices = json::array();
  for (const Gpu& gpu : gpus.devices) devices.push_back(EncodeGpu(gpu));
  json doc = {{"devices", std::move(devices)}};
  if (gpus.sharing.mode != GpuSharing::Mode::kNone)
    doc["sharing"] = {{"mode", Name(gpus.sharing.mode)},
                      {"replicas", gpus.sharing.replicas},
                      {"rename", gpus.sharing.rename}};
  return doc;
}

NodeGpus DecodeGpus(const json& doc) {
  NodeGpus gpus;
  for (const json& device : Items(doc, "devices")) gpus.devices.push_back(DecodeGpu(device));
  const json& sharing = Member(doc, "sharing");
  gpus.sharing = {SharingMode(Text(sharing, "mode")), IntOr(sharing, "replicas", 1), Bool(sharing, "rename")};
  return gpus;
}

NodeGpus NodeGpusOf(const ObjectMeta& node) { return DecodeGpus(ParseAnnotation(node)); }

std::string EncodeGpuShares(const GpuShares& shares) {
  json doc = json::object();
  for (const auto& [container, list] : shares) {
    for (const GpuShare& share : list) {
      json one = {{"uuid", share.uuid}};
      if (share.memory_bytes > 0) one["memoryBytes"] = share.memory_bytes;
      if (share.cores > 0) one["cores"] = share.cores;
      doc[container].push_back(std::move(one));
    }
  }
  return doc.dump();
}

GpuShares GpuSharesOf(const ObjectMeta& pod) {
  GpuShares shares;
  const json doc = ParseAnnotation(pod);
  if (!doc.is_object()) return shares;
  for (const auto& [container, list] : doc.items()) {
    if (!list.is_array()) continue;
    for (const json& one : list)
      shares[container].push_back(
          {Text(one, "uuid"), Int(one, "memoryBytes").value_or(0), IntOr(one, "cores", 0)});
  }
  return shares;
}

}  // namespace tfemu::api
