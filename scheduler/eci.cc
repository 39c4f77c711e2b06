#include "scheduler/eci.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::scheduler {
namespace {

using api::EciSpec;
using api::EciType;

struct Need {
  double vcpus = 0, memory_gib = 0;
  int gpus = 0;
};

Need NeedOf(const api::Pod& pod) {
  Need need;
  // An instance is sized by limits where a container has no request.
  for (const api::Container& container : pod.spec.containers) {
    const auto amount = [&](const char* name) {
      const auto request = container.requests.find(name);
      if (request != container.requests.end()) return request->second.milli;
      const auto limit = container.limits.find(name);
      return limit == container.limits.end() ? 0 : limit->second.milli;
    };
    need.vcpus += static_cast<double>(amount("cpu")) / 1000;
    need.memory_gib += static_cast<double>(amount("memory")) / 1000 / (1 << 30);
  }
  for (const auto& claim : api::GpuClaimsOf(pod))
    if (claim.type == api::GpuClaim::Type::kGpu) need.gpus += claim.count;
  return need;
}

bool Holds(const EciSpec& spec, const Need& need) {
  return spec.vcpus >= need.vcpus && spec.memory_gib >= need.memory_gib && spec.gpus() >= need.gpus;
}

// "ecs.gn7i" -> "7".
std::string GenerationOf(const EciType& type) {
  std::string digits;
  for (const char c : type.family)
    if (std::isdigit(static_cast<unsigned char>(c))) digits += c;
  return digits;
}

// The smallest type of each family, in the families' order.
std::vector<EciSpec> FromFamilies(const api::EciRequest& request, const Need& need) {
  std::vector<EciSpec> specs;
  for (const std::string& family : request.families) {
    const EciType* best = nullptr;
    for (const EciType& type : api::EciTypes()) {
      const EciSpec spec{&type, static_cast<double>(type.vcpus), static_cast<double>(type.memory_gib)};
      const bool generation =
          request.generations.empty() ||
          std::ranges::find(request.generations, GenerationOf(type)) != request.generations.end();
      if (!type.eci || type.family != family || !generation || !Holds(spec, need)) continue;
      if ((need.gpus == 0) != (type.gpus == 0)) continue;
      if (best == nullptr ||
          std::pair(type.vcpus, type.memory_gib) < std::pair(best->vcpus, best->memory_gib))
        best = &type;
    }
    if (best != nullptr)
      specs.push_back({best, static_cast<double>(best->vcpus), static_cast<double>(best->memory_gib)});
  }
  return specs;
}

EciChoice Refuse(const std::string& reason, const std::string& message) {
  EciChoice choice;
  choice.reason = reason;
  choice.message = message;
  return choice;
}

std::string InWords(const Need& need) {
  const EciSpec asked{nullptr, need.vcpus, need.memory_gib};
  return asked.Text() + (need.gpus > 0 ? " with " + std::to_string(need.gpus) + " GPUs" : "");
}

// "" when one more instance may be made.
std::string Lack(const EciRequestContext& context, const EciSpec& spec) {
  const std::string type = spec.Text();
  const auto stock = context.settings.stock.find(type);
  const auto taken = context.use.instances.find(type);
  if (stock != context.settings.stock.end() &&
      (taken == context.use.instances.end() ? 0 : taken->second) >= stock->second)
    return "NoStock";
  const auto beyond = [](double used, double more, int quota) { return quota > 0 && used + more > quota; };
  if (beyond(context.use.vcpus, spec.vcpus, context.settings.vcpu_quota) ||
      beyond(context.use.gpus, spec.gpus(), context.settings.gpu_quota))
    return "QuotaExceeded";
  return "";
}

std::vector<const NodeState*> Zones(const EciRequestContext& context, const api::EciRequest& request) {
  std::vector<const NodeState*> zones;
  for (const std::string& zone : context.settings.zones)
    for (const NodeState& state : context.snapshot.nodes)
      if (state.node.meta.name == api::EciNodeName(zone) && state.node.ready && !state.node.unschedulable)
        zones.push_back(&state);
  if (request.random_zone && !zones.empty())
    std::ranges::rotate(zones, zones.begin() + static_cast<std::ptrdiff_t>(context.draw % zones.size()));
  return zones;
}

// Devices of the zone where it was given some, else those that come with the type.
GpuChoice Gpus(const EciRequestContext& context, const NodeState& zone, const EciSpec& spec,
               const api::Pod& pod) {
  const auto claims = api::GpuClaimsOf(pod);
  if (claims.empty()) return {};
  if (!zone.node.gpus.devices.empty()) return ChooseGpus(zone.node.gpus, zone.gpu_uses, claims);
  return ChooseGpus(api::EciGpus({context.instance_id, spec}, pod.meta), {}, claims);
}

}  // namespace

void Assume(EciUse& use, const api::EciInstance& instance) {
  ++use.instances[instance.spec.Text()];
  use.vcpus += instance.spec.vcpus;
  use.gpus += instance.spec.gpus();
}

EciChoice ChooseEci(const EciRequestContext& context, const api::Pod& pod) {
  const api::EciRequest request = api::EciRequestOf(pod.meta);
  const Need need = NeedOf(pod);
  std::vector<EciSpec> candidates = request.specs;
  if (candidates.empty()) candidates = FromFamilies(request, need);
  if (candidates.empty() && need.gpus > 0)
    return Refuse(
        "FailedScheduling",
        "the pod asks for GPUs and names no instance type that has them: k8s.aliyun.com/eci-use-specs");
  if (candidates.empty())
    if (const auto rounded = api::RoundUpEci(need.vcpus, need.memory_gib)) candidates.push_back(*rounded);
  std::erase_if(candidates, [&](const EciSpec& spec) { return !Holds(spec, need); });
  if (candidates.empty())
    return Refuse("FailedScheduling", "no instance that the pod may have holds " + InWords(need));
  const auto zones = Zones(context, request);
  if (zones.empty()) return Refuse("FailedScheduling", "no zone of ECI takes pods");
  std::string reason = "NoStock", message;
  for (const EciSpec& spec : candidates) {
    const std::string lack = Lack(context, spec);
    for (const NodeState* zone : zones) {
      if (!lack.empty()) break;
      GpuChoice gpus = Gpus(context, *zone, spec, pod);
      if (gpus.problem.empty()) return {zone->node.meta.name, spec, std::move(gpus.shares), "", ""};
      message = gpus.problem;
    }
    if (!lack.empty()) reason = lack;
  }
  if (reason == "QuotaExceeded")
    return Refuse(reason, "Create ECI failed because the quota of the region would be exceeded.");
  return Refuse(reason, "Create ECI failed because the specified instance is out of stock." +
                            (message.empty() ? "" : " (" + message + ")"));
}

bool GoesToEci(const api::EciSettings& settings, const api::Pod& pod, bool nodes_full) {
  if (!settings.enabled()) return false;
  switch (api::EciPlacementOf(pod.meta)) {
    case api::EciPlacement::kAlways: return true;
    case api::EciPlacement::kWhenFull: return nodes_full || settings.serverless;
    case api::EciPlacement::kNever: return settings.serverless;
  }
  return false;
}

}  // namespace tfemu::scheduler
