// `describe` of pods, and the parts of it that pod templates share.
#include "emulator/api/describe.h"
#include "emulator/api/eci_bill.h"
#include "emulator/api/gpu.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

std::string ReadableTime(const std::string& text) {
  const auto time = ParseTime(text);
  return time ? FormatTime(*time) : text;
}

void DescribeState(DescribeWriter& writer, const std::string& name, const Json& state) {
  if (!state.is_object() || state.empty()) return;
  if (const Json& running = Field(state, "running"); running.is_object()) {
    writer.Field(2, name, "Running");
    writer.Field(3, "Started", ReadableTime(FieldText(running, "startedAt")));
  } else if (const Json& terminated = Field(state, "terminated"); terminated.is_object()) {
    writer.Field(2, name, "Terminated");
    if (auto reason = FieldText(terminated, "reason"); !reason.empty()) writer.Field(3, "Reason", reason);
    if (auto message = FieldText(terminated, "message"); !message.empty())
      writer.Field(3, "Message", message);
    writer.Field(3, "Exit Code", std::to_string(FieldInt(terminated, "exitCode")));
    if (const auto signal = FieldInt(terminated, "signal"); signal > 0)
      writer.Field(3, "Signal", std::to_string(signal));
    writer.Field(3, "Started", ReadableTime(FieldText(terminated, "startedAt")));
    writer.Field(3, "Finished", ReadableTime(FieldText(terminated, "finishedAt")));
  } else {
    writer.Field(2, name, "Waiting");
    if (auto reason = FieldText(state, "waiting.reason"); !reason.empty()) writer.Field(3, "Reason", reason);
    if (auto message = FieldText(state, "waiting.message"); !message.empty())
      writer.Field(3, "Message", message);
  }
}

void DescribeWords(DescribeWriter& writer, const std::string& name, const Json& words) {
  if (!words.is_array() || words.empty()) return;
  writer.Heading(2, name + ":");
  for (const auto& word : words) writer.Heading(3, word.is_string() ? word.get<std::string>() : word.dump());
}

void DescribeResources(DescribeWriter& writer, const std::string& name, const Json& resources) {
  if (!resources.is_object() || resources.empty()) return;
  writer.Heading(2, name + ":");
  for (const auto& [resource, quantity] : resources.items())
    writer.Field(3, resource, quantity.is_string() ? quantity.get<std::string>() : quantity.dump());
}

std::string EnvironmentText(const Json& variable) {
  const Json& from = Field(variable, "valueFrom");
  if (!from.is_object()) return FieldText(variable, "value");
  if (const Json& ref = Field(from, "configMapKeyRef"); ref.is_object())
    return "<set to the key '" + FieldText(ref, "key") + "' of config map '" + FieldText(ref, "name") + "'>";
  if (const Json& ref = Field(from, "secretKeyRef"); ref.is_object())
    return "<set to the key '" + FieldText(ref, "key") + "' in secret '" + FieldText(ref, "name") + "'>";
  if (const Json& ref = Field(from, "fieldRef"); ref.is_object())
    return "(" + FieldText(ref, "fieldPath") + ")";
  return FieldText(from, "resourceFieldRef.resource");
}

void DescribeEnvironment(DescribeWriter& writer, const Json& container) {
  const Json& variables = FieldList(container, "env");
  if (variables.empty()) {
    writer.Field(2, "Environment", "<none>");
    return;
  }
  writer.Heading(2, "Environment:");
  for (const auto& variable : variables)
    writer.Row(3, {FieldText(variable, "name") + ":", EnvironmentText(variable)});
}

void DescribeMounts(DescribeWriter& writer, const Json& container) {
  const Json& mounts = FieldList(container, "volumeMounts");
  if (mounts.empty()) {
    writer.Field(2, "Mounts", "<none>");
    return;
  }
  writer.Heading(2, "Mounts:");
  for (const auto& mount : mounts) {
    std::string flags = Field(mount, "readOnly") == true ? "ro" : "rw";
    if (auto path = FieldText(mount, "subPath"); !path.empty()) flags += ",path=\"" + path + "\"";
    writer.Heading(3,
                   FieldText(mount, "mountPath") + " from " + FieldText(mount, "name") + " (" + flags + ")");
  }
}

void DescribeStatus(DescribeWriter& writer, const Json& status) {
  if (!status.is_object()) return;
  DescribeState(writer, "State", Field(status, "state"));
  DescribeState(writer, "Last State", Field(status, "lastState"));
  writer.Field(2, "Ready", Field(status, "ready") == true ? "True" : "False");
  writer.Field(2, "Restart Count", std::to_string(FieldInt(status, "restartCount")));
}

std::string PortsText(const Json& container) {
  std::vector<std::string> ports;
  for (const auto& port : FieldList(container, "ports"))
    ports.push_back(FieldText(port, "containerPort") + "/" + TextOr(FieldText(port, "protocol"), "TCP"));
  return Join(ports, ", ");
}

const Json& StatusOf(const Json& statuses, const std::string& name) {
  for (const auto& status : statuses)
    if (FieldText(status, "name") == name) return status;
  return Field(statuses, "none");
}

void DescribeVolumeSource(DescribeWriter& writer, const Json& volume) {
  for (const auto& [type, source] : volume.items()) {
    if (type == "name") continue;
    writer.Field(2, "Type", type);
    if (!source.is_object()) continue;
    for (const auto& [field, value] : source.items())
      if (!value.is_structured())
        writer.Field(2, field, value.is_string() ? value.get<std::string>() : value.dump());
      else if (field == "options") DescribeMap(writer, 2, field, value, "=");
  }
}

std::string ShareText(const GpuShare& share) {
  std::string text;
  if (share.memory_bytes > 0) text += ", " + std::to_string(share.memory_bytes >> 20) + " MiB of its memory";
  if (share.cores > 0) text += ", " + std::to_string(share.cores) + "% of its cores";
  return text;
}

}  // namespace

void DescribeContainers(DescribeWriter& writer, const Json& pod, const char* list, const char* statuses) {
  const Json& all = FieldList(pod, statuses);
  for (const auto& container : FieldList(pod, list)) {
    const Json& status = StatusOf(all, FieldText(container, "name"));
    writer.Heading(1, FieldText(container, "name") + ":");
    if (status.is_object()) writer.Field(2, "Container ID", FieldText(status, "containerID"));
    writer.Field(2, "Image", FieldText(container, "image"));
    if (status.is_object()) writer.Field(2, "Image ID", FieldText(status, "imageID"));
    writer.Field(2, "Port", PortsText(container));
    if (auto folder = FieldText(container, "workingDir"); !folder.empty())
      writer.Field(2, "Working Dir", folder);
    DescribeWords(writer, "Command", Field(container, "command"));
    DescribeWords(writer, "Args", Field(container, "args"));
    DescribeStatus(writer, status);
    DescribeResources(writer, "Limits", Field(container, "resources.limits"));
    DescribeResources(writer, "Requests", Field(container, "resources.requests"));
    DescribeEnvironment(writer, container);
    DescribeMounts(writer, container);
  }
}

void DescribeVolumes(DescribeWriter& writer, const Json& pod_spec) {
  const Json& volumes = FieldList(pod_spec, "volumes");
  if (volumes.empty()) {
    writer.Field(0, "Volumes", "<none>");
    return;
  }
  writer.Heading(0, "Volumes:");
  for (const auto& volume : volumes) {
    writer.Heading(1, FieldText(volume, "name") + ":");
    DescribeVolumeSource(writer, volume);
  }
}

void DescribePod(DescribeWriter& writer, const Object& object, const DescribeContext& context) {
  const Json& pod = object.doc();
  const std::string node = FieldText(pod, "spec.nodeName"), host = FieldText(pod, "status.hostIP");
  writer.Field(0, "Node", node.empty() || host.empty() ? node : node + "/" + host);
  if (auto start = FieldText(pod, "status.startTime"); !start.empty()) writer.Field(0, "Start Time", start);
  DescribeMap(writer, 0, "Labels", Field(pod, "metadata.labels"), "=");
  DescribeMap(writer, 0, "Annotations", Field(pod, "metadata.annotations"), ": ");
  if (object.terminating())
    writer.Field(0, "Status", "Terminating (since " + FieldText(pod, "metadata.deletionTimestamp") + ")");
  else writer.Field(0, "Status", FieldText(pod, "status.phase"));
  if (auto reason = FieldText(pod, "status.reason"); !reason.empty()) writer.Field(0, "Reason", reason);
  if (auto message = FieldText(pod, "status.message"); !message.empty()) writer.Field(0, "Message", message);
  writer.Field(0, "IP", FieldText(pod, "status.podIP"));
  if (const auto bill = EciBillOf(object)) {
    writer.Field(0, "ECI Instance", bill->spec + " (" + bill->id + ")");
    writer.Field(0, "ECI Cost",
                 bill->hourly
                     ? Cny(*bill->hourly) + " CNY/h, " + Cny(bill->Amount(context.now)) + " CNY so far"
                     : "the price of " + bill->spec + " is not known (eci.prices)");
  }
  for (const auto& [container, shares] : GpuSharesOf(DecodeMeta(object)))
    for (const GpuShare& share : shares)
      writer.Field(0, "GPU of " + container, share.uuid + ShareText(share));
  for (const auto& owner : FieldList(pod, "metadata.ownerReferences"))
    if (Field(owner, "controller") == true)
      writer.Field(0, "Controlled By", FieldText(owner, "kind") + "/" + FieldText(owner, "name"));
  if (!FieldList(pod, "spec.initContainers").empty()) {
    writer.Heading(0, "Init Containers:");
    DescribeContainers(writer, pod, "spec.initContainers", "status.initContainerStatuses");
  }
  writer.Heading(0, "Containers:");
  DescribeContainers(writer, pod, "spec.containers", "status.containerStatuses");
  if (const Json& conditions = FieldList(pod, "status.conditions"); !conditions.empty()) {
    writer.Heading(0, "Conditions:");
    writer.Row(1, {"Type", "Status"});
    for (const auto& condition : conditions)
      writer.Row(1, {FieldText(condition, "type"), FieldText(condition, "status")});
  }
  DescribeVolumes(writer, Field(pod, "spec"));
  DescribeMap(writer, 0, "Node-Selectors", Field(pod, "spec.nodeSelector"), "=");
}

void DescribePodTemplate(DescribeWriter& writer, const Json& pod_template) {
  writer.Heading(0, "Pod Template:");
  DescribeMap(writer, 1, "Labels", Field(pod_template, "metadata.labels"), "=");
  writer.Heading(1, "Containers:");
  DescribeContainers(writer, pod_template, "spec.containers", "status.none");
  DescribeVolumes(writer, Field(pod_template, "spec"));
}

}  // namespace tfemu::api
