// The cells of a pod, above all its STATUS word, as the API server's printer derives them.
#include <optional>

#include "emulator/api/printer_fields.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

struct PodSummary {
  std::string status;
  int64_t restarts = 0;
  int ready = 0, containers = 0;
  std::optional<Instant> last_restart;
};

bool ConditionIsTrue(const Json& pod, std::string_view type) {
  for (const auto& condition : FieldList(pod, "status.conditions"))
    if (FieldText(condition, "type") == type) return FieldText(condition, "status") == "True";
  return false;
}

std::string TerminatedWord(const Json& terminated) {
  if (auto reason = FieldText(terminated, "reason"); !reason.empty()) return reason;
  if (const auto signal = FieldInt(terminated, "signal"); signal != 0)
    return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(FieldInt(terminated, "exitCode"));
}

void CountRestarts(const Json& status, PodSummary& summary) {
  summary.restarts += FieldInt(status, "restartCount");
  const auto finished = ParseTime(FieldText(status, "lastState.terminated.finishedAt"));
  if (finished && (!summary.last_restart || *summary.last_restart < *finished))
    summary.last_restart = finished;
}

bool IsSidecar(const Json& pod, const std::string& name) {
  for (const Json& container : FieldList(pod, "spec.initContainers"))
    if (FieldText(container, "name") == name) return FieldText(container, "restartPolicy") == "Always";
  return false;
}

// Of sidecars: they count as containers.
void CountSidecarRestarts(const Json& pod, PodSummary& summary) {
  for (const Json& status : FieldList(pod, "status.initContainerStatuses"))
    if (IsSidecar(pod, FieldText(status, "name"))) CountRestarts(status, summary);
}

// False when all init containers are done.
bool SummariseInit(const Json& pod, PodSummary& summary) {
  const Json& statuses = FieldList(pod, "status.initContainerStatuses");
  for (size_t i = 0; i < statuses.size(); ++i) {
    const Json& status = statuses[i];
    CountRestarts(status, summary);
    const Json& terminated = Field(status, "state.terminated");
    const std::string waiting = FieldText(status, "state.waiting.reason");
    if (terminated.is_object() && FieldInt(terminated, "exitCode") == 0) continue;
    if (IsSidecar(pod, FieldText(status, "name")) && Field(status, "started") == true) {
      if (Field(status, "ready") == true) ++summary.ready;
      continue;
    }
    if (terminated.is_object()) summary.status = "Init:" + TerminatedWord(terminated);
    else if (!waiting.empty() && waiting != "PodInitializing") summary.status = "Init:" + waiting;
    else
      summary.status =
          "Init:" + std::to_string(i) + "/" + std::to_string(FieldList(pod, "spec.initContainers").size());
    return true;
  }
  return false;
}

void SummariseContainers(const Json& pod, PodSummary& summary) {
  bool any_running = false;
  const Json& statuses = FieldList(pod, "status.containerStatuses");
  for (size_t i = statuses.size(); i-- > 0;) {
    const Json& status = statuses[i];
    CountRestarts(status, summary);
    const std::string waiting = FieldText(status, "state.waiting.reason");
    const Json& terminated = Field(status, "state.terminated");
    if (!waiting.empty()) {
      summary.status = waiting;
    } else if (terminated.is_object()) {
      summary.status = TerminatedWord(terminated);
    } else if (Field(status, "ready") == true && Field(status, "state.running").is_object()) {
      any_running = true;
      ++summary.ready;
    }
  }
  if (summary.status == "Completed" && any_running)
    summary.status = ConditionIsTrue(pod, "Ready") ? "Running" : "NotReady";
}

PodSummary Summarise(const Json& pod) {
  PodSummary summary;
  const std::string phase = FieldText(pod, "status.phase");
  const std::string reason = FieldText(pod, "status.reason");
  summary.status = reason.empty() ? phase : reason;
  for (const auto& condition : FieldList(pod, "status.conditions"))
    if (FieldText(condition, "type") == "PodScheduled" && FieldText(condition, "reason") == "SchedulingGated")
      summary.status = "SchedulingGated";
  summary.containers = static_cast<int>(FieldList(pod, "spec.containers").size());
  for (const Json& container : FieldList(pod, "spec.initContainers"))
    if (FieldText(container, "restartPolicy") == "Always") ++summary.containers;
  const bool initializing = SummariseInit(pod, summary);
  if (!initializing || ConditionIsTrue(pod, "Initialized")) {
    summary.restarts = 0;
    summary.last_restart.reset();
    CountSidecarRestarts(pod, summary);
    SummariseContainers(pod, summary);
  }
  const bool over = phase == "Succeeded" || phase == "Failed";
  if (!FieldText(pod, "metadata.deletionTimestamp").empty()) {
    if (reason == "NodeLost") summary.status = "Unknown";
    else if (!over) summary.status = "Terminating";
  }
  return summary;
}

std::string ReadinessGates(const Json& pod) {
  const Json& gates = FieldList(pod, "spec.readinessGates");
  if (gates.empty()) return "<none>";
  int met = 0;
  for (const auto& gate : gates) met += ConditionIsTrue(pod, FieldText(gate, "conditionType"));
  return std::to_string(met) + "/" + std::to_string(gates.size());
}

}  // namespace

std::string PodStatusWord(const Json& pod) { return Summarise(pod).status; }

std::vector<std::string> PrintPod(const Json& pod, Instant now) {
  const PodSummary summary = Summarise(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts > 0 && summary.last_restart)
    restarts += " (" + FormatAge(now - *summary.last_restart) + " ago)";
  const Json& addresses = FieldList(pod, "status.podIPs");
  std::string address =
      addresses.empty() ? FieldText(pod, "status.podIP") : FieldText(addresses.front(), "ip");
  return {FieldText(pod, "metadata.name"),
          std::to_string(summary.ready) + "/" + std::to_string(summary.containers),
          summary.status,
          restarts,
          AgeOf(pod, now),
          TextOr(std::move(address), "<none>"),
          TextOr(FieldText(pod, "spec.nodeName"), "<none>"),
          TextOr(FieldText(pod, "status.nominatedNodeName"), "<none>"),
          ReadinessGates(pod)};
}

}  // namespace tfemu::api
