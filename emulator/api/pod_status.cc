// v1.PodStatus as the node agent writes it.
#include <nlohmann/json.hpp>

#include "emulator/api/pod.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

Json EncodeState(const ContainerState& state) {
  switch (state.type) {
    case ContainerState::Type::kWaiting: {
      Json waiting = Json::object();
      if (!state.reason.empty()) waiting["reason"] = state.reason;
      if (!state.message.empty()) waiting["message"] = state.message;
      return Json::object({{"waiting", std::move(waiting)}});
    }
    case ContainerState::Type::kRunning:
      return Json::object({{"running", Json::object({{"startedAt", FormatTime(state.started_at)}})}});
    case ContainerState::Type::kTerminated: break;
  }
  Json ended = Json::object({{"exitCode", state.exit_code},
                             {"reason", state.reason},
                             {"startedAt", FormatTime(state.started_at)},
                             {"finishedAt", FormatTime(state.finished_at)}});
  if (state.signal != 0) ended["signal"] = state.signal;
  if (!state.message.empty()) ended["message"] = state.message;
  if (!state.container_id.empty()) ended["containerID"] = state.container_id;
  return Json::object({{"terminated", std::move(ended)}});
}

Json EncodeContainers(const std::vector<ContainerStatus>& statuses) {
  if (statuses.empty()) return nullptr;
  Json list = Json::array();
  for (const auto& s : statuses) {
    Json status = Json::object({{"name", s.name},
                                {"image", s.image},
                                {"imageID", s.image_id},
                                {"ready", s.ready},
                                {"started", s.started},
                                {"restartCount", s.restart_count},
                                {"state", EncodeState(s.state)},
                                {"lastState", s.last_state ? EncodeState(*s.last_state) : Json::object()}});
    if (!s.container_id.empty()) status["containerID"] = s.container_id;
    list.push_back(std::move(status));
  }
  return list;
}

Json EncodeConditions(const std::vector<PodCondition>& conditions) {
  Json list = Json::array();
  for (const auto& c : conditions) {
    Json condition = Json::object({{"type", c.type},
                                   {"status", c.status ? "True" : "False"},
                                   {"lastProbeTime", nullptr},
                                   {"lastTransitionTime", FormatTime(c.last_transition)}});
    if (!c.reason.empty()) condition["reason"] = c.reason;
    if (!c.message.empty()) condition["message"] = c.message;
    list.push_back(std::move(condition));
  }
  return list;
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json Addresses(const std::string& ip) {
  if (ip.empty()) return nullptr;
  Json list = Json::array();
  list.push_back(Json::object({{"ip", ip}}));
  return list;
}

}  // namespace

Json BindPatch(const Pod& pod, const std::string& node, const Labels& annotations, Instant now) {
  std::vector<PodCondition> conditions = pod.status.conditions;
  std::erase_if(conditions, [](const PodCondition& c) { return c.type == "PodScheduled"; });
  conditions.push_back({"PodScheduled", true, "", "", now});
  Json patch = Json::object({{"spec", Json::object({{"nodeName", node}})},
                             {"status", Json::object({{"conditions", EncodeConditions(conditions)}})}});
  for (const auto& [key, value] : annotations) patch["metadata"]["annotations"][key] = value;
  return patch;
}

Json UnschedulablePatch(const std::string& message, Instant now) {
  return Json::object(
      {{"conditions", EncodeConditions({{"PodScheduled", false, "Unschedulable", message, now}})}});
}

Json NoInstancePatch(const std::string& reason, const std::string& message, Instant now) {
  return Json::object(
      {{"conditions", EncodeConditions({{"PodScheduled", false, "Unschedulable", message, now},
                                        {"ContainerInstanceCreated", false, reason, message, now}})}});
}

Json FailedPatch(const std::string& reason, const std::string& message) {
  return Json::object({{"phase", ToString(PodPhase::kFailed)},
                       {"reason", TextOrNull(reason)},
                       {"message", TextOrNull(message)}});
}

Json EncodePodStatus(const PodStatus& status) {
  return Json::object({
      {"phase", ToString(status.phase)},
      {"reason", TextOrNull(status.reason)},
      {"message", TextOrNull(status.message)},
      {"podIP", TextOrNull(status.pod_ip)},
      {"podIPs", Addresses(status.pod_ip)},
      {"hostIP", TextOrNull(status.host_ip)},
      {"hostIPs", Addresses(status.host_ip)},
      {"qosClass", TextOrNull(status.qos_class)},
      {"conditions", EncodeConditions(status.conditions)},
      {"initContainerStatuses", EncodeContainers(status.init_containers)},
      {"containerStatuses", EncodeContainers(status.containers)},
      {"startTime", status.start_time ? Json(FormatTime(*status.start_time)) : Json(nullptr)},
  });
}

}  // namespace tfemu::api
