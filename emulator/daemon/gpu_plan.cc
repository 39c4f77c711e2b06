// Which node gets which GPUs.
#include <algorithm>
#include <set>

#include "emulator/api/gpu_models.h"
#include "emulator/daemon/config.h"

namespace tfemu::daemon {
namespace {

constexpr const char* kDefaultModel = "A10";  // the tutorial's instances have it (ecs.gn7i)

class Planner {
 public:
  explicit Planner(const Result<gpu::HostGpus>& host) : host_(host) {}

  Result<api::NodeGpus> Node(const api::NodeConfig& node) {
    api::NodeGpus gpus{{}, node.gpu_sharing};
    for (const api::GpuConfig& wanted : node.gpus) RETURN_IF_ERROR(Add(node.name, wanted, gpus.devices));
    return gpus;
  }

 private:
  Result<void> Add(const std::string& node, const api::GpuConfig& wanted, std::vector<api::Gpu>& devices) {
    if (!wanted.model.empty()) return AddVirtual(wanted, wanted.model, devices);
    const bool named = wanted.all || !wanted.uuids.empty();
    const bool no_driver = !host_.ok() && host_.error().reason == Reason::kNotFound;
    if (!named && (no_driver || (host_.ok() && host_.value().devices.empty())))
      return AddVirtual(wanted, kDefaultModel, devices);
    if (!host_.ok()) return host_.error();
    if (wanted.all) return Take(Free(), devices);
    if (!wanted.uuids.empty()) return AddNamed(wanted.uuids, devices);
    std::vector<std::string> free = Free();
    if (free.size() < static_cast<size_t>(wanted.count))
      return Error{Reason::kInvalid,
                   "node " + node + ": " + std::to_string(wanted.count) +
                       " GPUs are asked for, the host has " + std::to_string(free.size()) +
                       (taken_.empty() ? "" : " left"),
                   "ask for fewer, or for virtual ones with a model: --gpu-model A10"};
    free.resize(static_cast<size_t>(wanted.count));
    return Take(free, devices);
  }

  Result<void> AddVirtual(const api::GpuConfig& wanted, const std::string& model,
                          std::vector<api::Gpu>& devices) {
    const int index = devices.empty() ? 0 : devices.back().index + 1;
    ASSIGN_OR_RETURN(auto made, api::MakeVirtualGpus({model, wanted.count, virtual_, index, wanted.mig}));
    virtual_ += wanted.count;
    for (api::Gpu& gpu : made) devices.push_back(std::move(gpu));
    return {};
  }

  // Whole GPUs of the host that no node has yet.
  std::vector<std::string> Free() const {
    std::vector<std::string> free;
    for (const api::Gpu& gpu : host_.value().devices)
      if (gpu.mig_profile.empty() && !taken_.contains(gpu.uuid)) free.push_back(gpu.uuid);
    return free;
  }

  Result<void> AddNamed(const std::vector<std::string>& uuids, std::vector<api::Gpu>& devices) {
    std::vector<std::string> found;
    for (const std::string& uuid : uuids) {
      const auto gpu = std::ranges::find_if(host_.value().devices, [&](const api::Gpu& g) {
        return g.mig_profile.empty() && g.uuid.starts_with(uuid);
      });
      if (gpu == host_.value().devices.end())
        return Error{Reason::kNotFound, "the host has no GPU " + uuid, "nvidia-smi -L lists them"};
      if (taken_.contains(gpu->uuid))
        return Error{Reason::kInvalid, "GPU " + gpu->uuid + " is given to two nodes"};
      found.push_back(gpu->uuid);
    }
    return Take(found, devices);
  }

  // With their MIG instances.
  Result<void> Take(const std::vector<std::string>& uuids, std::vector<api::Gpu>& devices) {
    if (uuids.empty())
      return Error{Reason::kNotFound, "the host has no GPUs left to give",
                   "virtual ones: --gpus N --gpu-model A10"};
    for (const api::Gpu& gpu : host_.value().devices) {
      const std::string& whole = gpu.mig_profile.empty() ? gpu.uuid : gpu.parent;
      if (std::ranges::find(uuids, whole) == uuids.end()) continue;
      taken_.insert(whole);
      devices.push_back(gpu);
    }
    return {};
  }

  const Result<gpu::HostGpus>& host_;
  std::set<std::string> taken_;
  int virtual_ = 0;
};

}  // namespace

bool WantsHostGpus(const api::ClusterConfig& config) {
  for (const api::NodeConfig& node : config.nodes)
    for (const api::GpuConfig& gpus : node.gpus)
      if (gpus.model.empty()) return true;
  return false;
}

Result<std::vector<api::NodeGpus>> PlanGpus(const api::ClusterConfig& config,
                                            const Result<gpu::HostGpus>& host) {
  Planner planner(host);
  std::vector<api::NodeGpus> nodes;
  for (const api::NodeConfig& node : config.nodes) {
    ASSIGN_OR_RETURN(api::NodeGpus gpus, planner.Node(node));
    nodes.push_back(std::move(gpus));
  }
  return nodes;
}

}  // namespace tfemu::daemon
