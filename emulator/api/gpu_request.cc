#include "emulator/api/gpu_request.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr std::array kQualifiers = {"nvidia.com/gpumem", "nvidia.com/gpumem-percentage",
                                    "nvidia.com/gpucores", "nvidia.com/priority"};
constexpr const char* kMigPrefix = "nvidia.com/mig-";

int64_t Units(const Resources& resources, const std::string& name) {
  const auto it = resources.find(name);
  return it == resources.end() ? 0 : it->second.Units();
}

// gpushare spreads a container's memory over as many cards as the pod's label says.
int CardsOf(const Pod& pod, const Resources& limits) {
  if (const int64_t count = Units(limits, "aliyun.com/gpu-count"); count > 0) return static_cast<int>(count);
  const auto label = pod.meta.labels.find("aliyun.com/gpu-count");
  if (label == pod.meta.labels.end()) return 1;
  return static_cast<int>(std::max<int64_t>(1, ParseInt(label->second).value_or(1)));
}

void AddWhole(const Container& container, std::vector<GpuClaim>& claims) {
  const Resources& limits = container.limits;
  const int64_t count = Units(limits, "nvidia.com/gpu") + Units(limits, "nvidia.com/gpu.shared");
  const bool qualified =
      std::ranges::any_of(kQualifiers, [&](const char* q) { return Units(limits, q) > 0; });
  if (count == 0 && !qualified) return;
  GpuClaim claim{container.name, GpuClaim::Type::kGpu, static_cast<int>(std::max<int64_t>(count, 1))};
  if (qualified) {
    claim.type = GpuClaim::Type::kMemory;
    claim.memory_bytes = Units(limits, "nvidia.com/gpumem") * kMiB;
    claim.memory_percent = static_cast<int>(Units(limits, "nvidia.com/gpumem-percentage"));
    claim.cores = static_cast<int>(Units(limits, "nvidia.com/gpucores"));
  }
  claims.push_back(std::move(claim));
}

void AddContainer(const Pod& pod, const Container& container, std::vector<GpuClaim>& claims) {
  AddWhole(container, claims);
  for (const auto& [name, amount] : container.limits) {
    if (!name.starts_with(kMigPrefix) || amount.milli <= 0) continue;
    claims.push_back({container.name, GpuClaim::Type::kMig, static_cast<int>(amount.Units()),
                      name.substr(std::string_view(kMigPrefix).size())});
  }
  if (const int64_t gib = Units(container.limits, "aliyun.com/gpu-mem"); gib > 0) {
    GpuClaim claim{container.name, GpuClaim::Type::kMemory, CardsOf(pod, container.limits)};
    claim.memory_bytes = gib * 1024 * kMiB / claim.count;
    claims.push_back(std::move(claim));
  }
}

}  // namespace

std::vector<GpuClaim> GpuClaimsOf(const Pod& pod) {
  std::vector<GpuClaim> claims;
  for (const Container& container : pod.spec.init_containers) AddContainer(pod, container, claims);
  for (GpuClaim& claim : claims) claim.init = true;
  for (const Container& container : pod.spec.containers) AddContainer(pod, container, claims);
  return claims;
}

std::span<const char* const> GpuQualifiers() { return kQualifiers; }

std::vector<AskedResource> ExtendedResources(const Json& pod_spec, const std::string& path) {
  std::vector<AskedResource> asked;
  for (const char* list : {"initContainers", "containers"}) {
    for (size_t i = 0; const Json& container : Items(pod_spec, list)) {
      const std::string at = path + "." + list + "[" + std::to_string(i++) + "].resources.limits.";
      const Json& limits = Member(Member(container, "resources"), "limits");
      if (!limits.is_object()) continue;
      for (const auto& [name, amount] : limits.items())
        if (name.find('/') != std::string::npos) asked.push_back({at + name, name});
    }
  }
  return asked;
}

bool QualifiesGpu(const std::string& resource) {
  return std::ranges::find(kQualifiers, resource) != kQualifiers.end();
}

bool IsGpuResource(const std::string& resource) {
  return QualifiesGpu(resource) || resource.starts_with("nvidia.com/") ||
         resource.starts_with("aliyun.com/gpu");
}

std::vector<FieldMessage> CheckGpuResources(const Json& container, const std::string& path) {
  std::vector<FieldMessage> messages;
  const Resources limits = DecodeResources(Member(Member(container, "resources"), "limits"));
  const auto at = [&](const char* name) { return path + ".resources.limits." + name; };
  const auto percent = [&](const char* name) {
    if (const int64_t value = Units(limits, name); value > 100)
      messages.push_back(
          {at(name), "Invalid value: " + std::to_string(value) + ": must be at most 100 percent"});
  };
  percent("nvidia.com/gpumem-percentage");
  percent("nvidia.com/gpucores");
  if (Units(limits, "nvidia.com/gpumem") > 0 && Units(limits, "nvidia.com/gpumem-percentage") > 0)
    messages.push_back(
        {at("nvidia.com/gpumem-percentage"), "may not be set together with nvidia.com/gpumem"});
  const bool both = Units(limits, "aliyun.com/gpu-mem") > 0 &&
                    Units(limits, "nvidia.com/gpu") + Units(limits, "nvidia.com/gpumem") > 0;
  if (both)
    messages.push_back({at("aliyun.com/gpu-mem"),
                        "may not be set together with nvidia.com/gpu: a container "
                        "gets whole GPUs or shares of them"});
  return messages;
}

}  // namespace tfemu::api
