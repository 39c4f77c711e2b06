#include "emulator/controllers/tfjob_conditions.h"

#include <algorithm>

namespace tfemu::controllers {

std::string_view ToString(JobConditionType type) {
  switch (type) {
    case JobConditionType::kCreated: return "Created";
    case JobConditionType::kRunning: return "Running";
    case JobConditionType::kRestarting: return "Restarting";
    case JobConditionType::kSucceeded: return "Succeeded";
    case JobConditionType::kFailed: return "Failed";
    case JobConditionType::kSuspended: return "Suspended";
  }
  return "";
}

void SetCondition(api::TFJobStatus& status, JobConditionType type, bool value, const std::string& reason,
                  const std::string& message, Instant now) {
  if (status.Has("Failed")) return;
  api::JobCondition next{std::string(ToString(type)), value, reason, message, now, now};
  if (const api::JobCondition* old = status.Find(next.type)) {
    if (old->status == value && old->reason == reason) return;
    if (old->status == value) next.last_transition = old->last_transition;
  }
  auto& list = status.conditions;
  std::erase_if(list, [&](const api::JobCondition& c) {
    return c.type == next.type || (type == JobConditionType::kRestarting && c.type == "Running") ||
           (type == JobConditionType::kRunning && c.type == "Restarting");
  });
  if (type == JobConditionType::kSucceeded || type == JobConditionType::kFailed)
    for (api::JobCondition& c : list)
      if (c.type == "Running") c.status = false;
  list.push_back(std::move(next));
}

}  // namespace tfemu::controllers
