#include "emulator/manager/eci_placer.h"

#include <cstdio>

#include "emulator/base/strings.h"

namespace tfemu::manager {
namespace {

std::string Key(const char* name) { return std::string(api::kEciPrefix) + name; }

std::string Money(double amount) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", amount);
  return text;
}

// "virtual-kubelet-cn-beijing-k" -> "cn-beijing-k".
std::string ZoneOf(const std::string& node) { return node.substr(api::EciNodeName("").size()); }

}  // namespace

void EciPlacer::Take(const api::ObjectMeta& pod) {
  if (const auto instance = api::EciInstanceOf(pod)) scheduler::Assume(use_, *instance);
}

EciPlacer::Placement EciPlacer::Place(const scheduler::Snapshot& snapshot, const api::Pod& pod) {
  const std::string id = "eci-" + rng_.Suffix(20);
  auto choice = scheduler::ChooseEci({snapshot, settings_, use_, id, rng_.Next()}, pod);
  if (choice.node.empty()) return {"", {}, {}, choice.reason, choice.message};
  scheduler::Assume(use_, {id, choice.spec});
  const bool economy = api::EciRequestOf(pod.meta).economy;
  const std::string spec = choice.spec.Text();
  api::Labels added{{Key("eci-instance-id"), id},
                    {Key("eci-request-id"), rng_.Uuid()},
                    {Key("eci-instance-spec"), spec},
                    {Key("eci-instance-compute-category"), economy ? "economy" : "general"},
                    {Key("eci-schedule-result"), "zone " + ZoneOf(choice.node) + ", " + spec},
                    {Key("eci-created-by-template"), pod.meta.owner_references.empty() ? "false" : "true"}};
  auto price = api::EciHourlyPrice(choice.spec, economy);
  if (const auto own = settings_.prices.find(spec); own != settings_.prices.end()) price = own->second;
  if (price) added[api::kEciPriceAnnotation] = Money(*price);
  return {choice.node, std::move(choice.gpus), std::move(added), "", ""};
}

Instant EciPlacer::GivesUpAt(const api::Pod& pod) const {
  const api::EciRequest request = api::EciRequestOf(pod.meta);
  if (request.fail_fast) return pod.meta.creation_timestamp;
  return pod.meta.creation_timestamp + std::chrono::minutes(request.max_pending_minutes) / time_scale_;
}

}  // namespace tfemu::manager
