#include "emulator/controllers/job_failures.h"

#include <algorithm>

namespace tfemu::controllers {
namespace {

using api::PodFailureRule;

// The container whose exit the rule speaks of; containers that succeeded are not looked at.
const api::ContainerStatus* MatchingContainer(const PodFailureRule& rule, const api::Pod& pod) {
  for (const auto* list : {&pod.status.init_containers, &pod.status.containers}) {
    for (const api::ContainerStatus& container : *list) {
      const api::ContainerState& state = container.state;
      if (state.type != api::ContainerState::Type::kTerminated || state.exit_code == 0) continue;
      if (!rule.container.empty() && rule.container != container.name) continue;
      if (rule.exit_codes.contains(state.exit_code) == rule.in) return &container;
    }
  }
  return nullptr;
}

const api::PodCondition* MatchingCondition(const PodFailureRule& rule, const api::Pod& pod) {
  for (const auto& wanted : rule.conditions) {
    const api::PodCondition* condition = pod.status.Find(wanted.type);
    if (condition != nullptr && condition->status == (wanted.status == "True")) return condition;
  }
  return nullptr;
}

}  // namespace

Failure JudgeFailure(const api::BatchJob& job, const api::Pod& pod) {
  const std::string name = pod.meta.ns + "/" + pod.meta.name;
  for (size_t i = 0; i < job.failure_rules.size(); ++i) {
    const PodFailureRule& rule = job.failure_rules[i];
    const std::string where = " matching FailJob rule at index " + std::to_string(i);
    if (rule.by_exit_code) {
      if (const auto* container = MatchingContainer(rule, pod))
        return {rule.action, "Container " + container->name + " for pod " + name + " failed with exit code " +
                                 std::to_string(container->state.exit_code) + where};
    } else if (const auto* condition = MatchingCondition(rule, pod)) {
      return {rule.action, "Pod " + name + " has condition " + condition->type + where};
    }
  }
  return {};
}

Instant EndOf(const api::Pod& pod) {
  Instant end = pod.meta.creation_timestamp;
  for (const api::ContainerStatus& container : pod.status.containers)
    if (container.state.type == api::ContainerState::Type::kTerminated)
      end = std::max(end, container.state.finished_at);
  return end;
}

}  // namespace tfemu::controllers
