// What the API server refuses in a pod or a pod template.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/decode.h"
#include "emulator/api/gpu_request.h"
#include "emulator/api/pod.h"
#include "emulator/api/validation.h"
#include "emulator/api/volume_source.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

void CheckName(const Json& object, const std::string& path, std::set<std::string>& seen, Messages& messages) {
  const std::string name = Text(object, "name");
  if (name.empty()) messages.push_back({path + ".name", "Required value"});
  else if (const auto problem = LabelProblem(name); !problem.empty())
    messages.push_back({path + ".name", "Invalid value: \"" + name + "\": " + problem});
  else if (!seen.insert(name).second)
    messages.push_back({path + ".name", "Duplicate value: \"" + name + "\""});
}

void CheckPorts(const Json& container, const std::string& path, Messages& messages) {
  std::set<std::string> names;
  for (size_t i = 0; const Json& port : Items(container, "ports")) {
    const std::string at = path + ".ports[" + std::to_string(i++) + "]";
    const auto number = Int(port, "containerPort");
    if (!number) messages.push_back({at + ".containerPort", "Required value"});
    else if (*number < 1 || *number > 65535)
      messages.push_back({at + ".containerPort", "Invalid value: " + std::to_string(*number) +
                                                     ": must be between 1 and 65535, inclusive"});
    if (const std::string name = Text(port, "name"); !name.empty() && !names.insert(name).second)
      messages.push_back({at + ".name", "Duplicate value: \"" + name + "\""});
    CheckOneOf(port, "protocol", at, {"SCTP", "TCP", "UDP"}, messages);
  }
}

void CheckMounts(const Json& container, const std::string& path, const std::set<std::string>& volumes,
                 Messages& messages) {
  std::set<std::string> targets;
  for (size_t i = 0; const Json& mount : Items(container, "volumeMounts")) {
    const std::string at = path + ".volumeMounts[" + std::to_string(i++) + "]";
    const std::string name = Text(mount, "name"), target = Text(mount, "mountPath"),
                      sub = Text(mount, "subPath");
    if (!volumes.contains(name)) messages.push_back({at + ".name", "Not found: \"" + name + "\""});
    if (target.empty()) messages.push_back({at + ".mountPath", "Required value"});
    else if (!targets.insert(target).second)
      messages.push_back({at + ".mountPath", "Invalid value: \"" + target + "\": must be unique"});
    const auto parts = Split(sub, '/');
    if (!sub.empty() && sub.front() == '/')
      messages.push_back({at + ".subPath", "Invalid value: \"" + sub + "\": must be a relative path"});
    if (std::ranges::find(parts, "..") != parts.end())
      messages.push_back({at + ".subPath", "Invalid value: \"" + sub + "\": must not contain '..'"});
    for (auto& message : CheckMountOptions(mount, container, at)) messages.push_back(std::move(message));
  }
}

void CheckResources(const Json& container, const std::string& path, Messages& messages) {
  const Resources limits = DecodeResources(Member(Member(container, "resources"), "limits"));
  const Resources requests = DecodeResources(Member(Member(container, "resources"), "requests"));
  for (const auto& [name, amount] : requests) {
    const auto limit = limits.find(name);
    if (amount.milli < 0)
      messages.push_back({path + ".resources.requests." + name, "must be greater than or equal to 0"});
    if (limit != limits.end() && amount > limit->second)
      messages.push_back(
          {path + ".resources.requests." + name, "must be less than or equal to " + name + " limit"});
    const bool extended = name.find('/') != std::string::npos;
    if (extended && amount.milli % 1000 != 0)
      messages.push_back({path + ".resources.requests." + name, "must be an integer"});
    if (extended && (limit == limits.end() || limit->second != amount))
      messages.push_back({path + ".resources.limits." + name, "must be equal to " + name + " request"});
  }
  for (const auto& [name, amount] : limits) {
    const std::string at = path + ".resources.limits." + name;
    if (amount.milli < 0) messages.push_back({at, "must be greater than or equal to 0"});
    if (name.find('/') != std::string::npos && amount.milli % 1000 != 0)
      messages.push_back({at, "must be an integer"});
  }
}

void CheckEnv(const Json& container, const std::string& path, Messages& messages) {
  for (size_t i = 0; const Json& var : Items(container, "env")) {
    const std::string at = path + ".env[" + std::to_string(i++) + "]";
    CheckRequired(var, "name", at, messages);
    if (Text(var, "name").find('=') != std::string::npos)
      messages.push_back(
          {at + ".name", "Invalid value: \"" + Text(var, "name") + "\": must not contain '='"});
    if (!Text(var, "value").empty() && Member(var, "valueFrom").is_object())
      messages.push_back(
          {at + ".valueFrom", "Invalid value: may not be specified when `value` is not empty"});
  }
}

void CheckDns(const Json& spec, const std::string& path, Messages& messages) {
  CheckOneOf(spec, "dnsPolicy", path, {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
             messages);
  const Json& servers = Items(Member(spec, "dnsConfig"), "nameservers");
  const std::string at = path + ".dnsConfig.nameservers";
  if (Text(spec, "dnsPolicy") == "None" && servers.empty())
    messages.push_back(
        {at, "Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"});
  if (servers.size() > 3) messages.push_back({at, "Invalid value: must not have more than 3 nameservers"});
}

// restartPolicy of a container makes a sidecar of an init container, and is for nothing else.
void CheckSidecar(const Json& container, bool init, const std::string& at, Messages& messages) {
  const std::string policy = Text(container, "restartPolicy");
  if (!policy.empty() && !init)
    messages.push_back({at + ".restartPolicy", "Forbidden: may not be set for non-init containers"});
  if (init) CheckOneOf(container, "restartPolicy", at, {"Always"}, messages);
  if (!init || policy == "Always") return;
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
    if (Member(container, name).is_object())
      messages.push_back(
          {at + "." + name, "Forbidden: may not be set for init containers without restartPolicy=Always"});
}

}  // namespace

std::vector<FieldMessage> ValidatePodSpec(const Json& spec, const std::string& path) {
  Messages messages;
  std::set<std::string> volumes, containers;
  for (size_t i = 0; const Json& volume : Items(spec, "volumes")) {
    const std::string at = path + ".volumes[" + std::to_string(i++) + "]";
    CheckName(volume, at, volumes, messages);
    for (auto& message : CheckVolumeSource(volume, at, false)) messages.push_back(std::move(message));
  }
  if (const auto group = Int(Member(spec, "securityContext"), "fsGroup");
      group && (*group < 0 || *group > 2147483647))
    messages.push_back(
        {path + ".securityContext.fsGroup",
         "Invalid value: " + std::to_string(*group) + ": must be between 0 and 2147483647, inclusive"});
  CheckOneOf(Member(spec, "securityContext"), "fsGroupChangePolicy", path + ".securityContext",
             {"Always", "OnRootMismatch"}, messages);
  if (Items(spec, "containers").empty()) messages.push_back({path + ".containers", "Required value"});
  for (const char* list : {"initContainers", "containers"}) {
    for (size_t i = 0; const Json& container : Items(spec, list)) {
      const std::string at = path + "." + list + "[" + std::to_string(i++) + "]";
      CheckName(container, at, containers, messages);
      CheckRequired(container, "image", at, messages);
      CheckOneOf(container, "imagePullPolicy", at, {"Always", "IfNotPresent", "Never"}, messages);
      CheckOneOf(container, "terminationMessagePolicy", at, {"FallbackToLogsOnError", "File"}, messages);
      CheckSidecar(container, std::string_view(list) == "initContainers", at, messages);
      CheckPorts(container, at, messages);
      CheckMounts(container, at, volumes, messages);
      CheckResources(container, at, messages);
      for (auto& message : ValidateProbes(container, at)) messages.push_back(std::move(message));
      for (auto& message : CheckGpuResources(container, at)) messages.push_back(std::move(message));
      CheckEnv(container, at, messages);
    }
  }
  CheckOneOf(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, messages);
  CheckDns(spec, path, messages);
  CheckNotNegative(spec, "terminationGracePeriodSeconds", path, messages);
  return messages;
}

std::vector<FieldMessage> ValidatePod(const Json& pod, const Json* previous) {
  Messages messages;
  CheckMeta(pod, messages);
  if (!Member(pod, "spec").is_object()) {
    messages.push_back({"spec", "Required value"});
    return messages;
  }
  const auto more = ValidatePodSpec(pod["spec"], "spec");
  messages.insert(messages.end(), more.begin(), more.end());
  if (previous == nullptr) return messages;
  Json before = Member(*previous, "spec"), after = pod["spec"];
  for (Json* spec : {&before, &after}) {
    for (const char* may_change :
         {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "nodeName"})
      spec->erase(may_change);
    for (const char* list : {"initContainers", "containers"})
      if (spec->contains(list) && (*spec)[list].is_array())
        for (Json& container : (*spec)[list]) container.erase("image");
  }
  if (before != after)
    messages.push_back({"spec",
                        "Forbidden: pod updates may not change fields other than `spec.containers[*].image`, "
                        "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` or "
                        "`spec.terminationGracePeriodSeconds`"});
  return messages;
}

}  // namespace tfemu::api
