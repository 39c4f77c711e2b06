#include "emulator/manager/pod_admission.h"

#include <algorithm>

#include "emulator/api/eci_settings.h"
#include "emulator/api/gpu_request.h"

namespace tfemu::manager {
namespace {

using api::GpuClaim;

std::string ResourceOf(const GpuClaim& claim) {
  switch (claim.type) {
    case GpuClaim::Type::kGpu: return "nvidia.com/gpu";
    case GpuClaim::Type::kMig: return "nvidia.com/mig-" + claim.profile;
    case GpuClaim::Type::kMemory: break;
  }
  return "aliyun.com/gpu-mem";
}

// How many devices of that sort one more pod could have.
int Available(const scheduler::NodeState& node, GpuClaim claim) {
  for (claim.count = 0; claim.count < static_cast<int>(node.node.gpus.devices.size()); ++claim.count) {
    GpuClaim more = claim;
    ++more.count;
    if (!scheduler::ChooseGpus(node.node.gpus, node.gpu_uses, {more}).problem.empty()) break;
  }
  return claim.count;
}

}  // namespace

bool Admitted(const api::Pod& pod, const api::Node& node) {
  if (api::IsEciNode(node.meta) && !api::EciInstanceOf(pod.meta)) return false;
  if (api::GpuClaimsOf(pod).empty()) return true;
  const api::GpuShares shares = api::GpuSharesOf(pod.meta);
  if (node.gpus.devices.empty())  // an instance brings its own; a described node may only count them
    return api::IsEciNode(node.meta) || node.allocatable.contains("nvidia.com/gpu");
  return !shares.empty() && std::ranges::all_of(shares, [&](const auto& entry) {
    return std::ranges::all_of(
        entry.second, [&](const api::GpuShare& share) { return node.gpus.Find(share.uuid) != nullptr; });
  });
}

Admission Admit(const scheduler::NodeState& node, const api::Pod& pod) {
  const auto claims = api::GpuClaimsOf(pod);
  auto choice = scheduler::ChooseGpus(node.node.gpus, node.gpu_uses, claims);
  if (choice.problem.empty()) return {std::move(choice.shares), ""};
  const auto short_of = std::ranges::find_if(
      claims, [&](const GpuClaim& claim) { return Available(node, claim) < claim.count; });
  const GpuClaim& claim = short_of == claims.end() ? claims.front() : *short_of;
  return {{},
          "Allocate failed due to requested number of devices unavailable for " + ResourceOf(claim) +
              ". Requested: " + std::to_string(claim.count) +
              ", Available: " + std::to_string(Available(node, claim)) + ", which is unexpected"};
}

}  // namespace tfemu::manager
