// `describe` of deployments, claims, volumes, nodes and services.
#include <cmath>
#include <cstdio>

#include "emulator/api/describe.h"
#include "emulator/api/view.h"
#include "emulator/api/volume.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

void DescribeConditions(DescribeWriter& writer, const Json& doc) {
  const Json& conditions = FieldList(doc, "status.conditions");
  if (conditions.empty()) return;
  writer.Heading(0, "Conditions:");
  writer.Row(1, {"Type", "Status", "Reason", "Message"});
  writer.Row(1, {"----", "------", "------", "-------"});
  for (const auto& condition : conditions)
    writer.Row(1, {FieldText(condition, "type"), FieldText(condition, "status"),
                   FieldText(condition, "reason"), FieldText(condition, "message")});
}

// "1.5Gi": one decimal, of the largest unit that leaves a whole number before the point.
std::string FormatBytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  size_t unit = 0;
  double value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || value == std::floor(value) ? "%.0f%s" : "%.1f%s", value,
                kUnits[unit]);
  return text;
}

std::string Names(const std::vector<Object>& objects) {
  std::vector<std::string> names;
  for (const auto& object : objects) names.push_back(object.key().name);
  return Join(names, ", ");
}

void DescribeQuantities(DescribeWriter& writer, const std::string& name, const Json& quantities) {
  if (!quantities.is_object()) return;
  writer.Heading(0, name + ":");
  for (const auto& [resource, quantity] : quantities.items())
    writer.Field(1, resource, quantity.is_string() ? quantity.get<std::string>() : quantity.dump());
}

// What a directory with a quota holds, as the node agent last wrote it; "" without a quota.
std::string Usage(const Json& doc) {
  const Json& annotations = Field(doc, "metadata.annotations");
  if (!annotations.is_object() || !annotations.contains(kUsedBytes) || !annotations.contains(kQuotaBytes))
    return "";
  const auto show = [&](const char* name) {
    const auto bytes = ParseInt(annotations[name].get<std::string>());
    return FormatBytes(bytes.value_or(0));
  };
  return show(kUsedBytes) + " of " + show(kQuotaBytes);
}

std::string Terminating(const Object& object, const std::string& phase) {
  return object.terminating() ? "Terminating" : phase;
}

}  // namespace

void DescribeDeployment(DescribeWriter& writer, const Object& object, const DescribeContext& context) {
  const Json& doc = object.doc();
  const auto count = [&](const char* path) { return std::to_string(FieldInt(doc, path)); };
  writer.Field(0, "CreationTimestamp", FieldText(doc, "metadata.creationTimestamp"));
  writer.Field(0, "Selector", JoinLabels(Field(doc, "spec.selector.matchLabels"), ","));
  writer.Field(0, "Replicas",
               count("spec.replicas") + " desired | " + count("status.updatedReplicas") + " updated | " +
                   count("status.replicas") + " total | " + count("status.availableReplicas") +
                   " available | " + count("status.unavailableReplicas") + " unavailable");
  writer.Field(0, "StrategyType", FieldText(doc, "spec.strategy.type"));
  DescribePodTemplate(writer, Field(doc, "spec.template"));
  DescribeConditions(writer, doc);
  writer.Field(0, "ReplicaSets", Names(context.related));
}

void DescribeClaim(DescribeWriter& writer, const Object& object, const DescribeContext& context) {
  const Json& doc = object.doc();
  writer.Field(0, "StorageClass", FieldText(doc, "spec.storageClassName"));
  writer.Field(0, "Status", Terminating(object, FieldText(doc, "status.phase")));
  writer.Field(0, "Volume", FieldText(doc, "spec.volumeName"));
  writer.Field(0, "Capacity", FieldText(doc, "status.capacity.storage"));
  if (const std::string usage = Usage(doc); !usage.empty()) writer.Field(0, "Used", usage);
  writer.Field(0, "Requested", FieldText(doc, "spec.resources.requests.storage"));
  writer.Field(0, "Access Modes", FormatAccessModes(Field(doc, "spec.accessModes")));
  writer.Field(0, "Selector", JoinLabels(Field(doc, "spec.selector.matchLabels"), ","));
  writer.Field(0, "Used By", Names(context.related));
}

void DescribeVolume(DescribeWriter& writer, const Object& object, const DescribeContext&) {
  const Json& doc = object.doc();
  const std::string claim = FieldText(doc, "spec.claimRef.name");
  writer.Field(0, "StorageClass", FieldText(doc, "spec.storageClassName"));
  writer.Field(0, "Status", Terminating(object, FieldText(doc, "status.phase")));
  writer.Field(0, "Claim", claim.empty() ? "" : FieldText(doc, "spec.claimRef.namespace") + "/" + claim);
  writer.Field(0, "Reclaim Policy", FieldText(doc, "spec.persistentVolumeReclaimPolicy"));
  writer.Field(0, "Access Modes", FormatAccessModes(Field(doc, "spec.accessModes")));
  writer.Field(0, "Capacity", FieldText(doc, "spec.capacity.storage"));
  if (const std::string usage = Usage(doc); !usage.empty()) writer.Field(0, "Used", usage);
  if (auto message = FieldText(doc, "status.message"); !message.empty()) writer.Field(0, "Message", message);
  writer.Heading(0, "Source:");
  for (const char* type : {"flexVolume", "nfs", "hostPath", "csi", "local"}) {
    const Json& source = Field(doc, std::string("spec.") + type);
    if (!source.is_object()) continue;
    writer.Field(1, "Type", type);
    for (const auto& [field, value] : source.items())
      if (value.is_object()) DescribeMap(writer, 1, field, value, "=");
      else writer.Field(1, field, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void DescribeResourceQuota(DescribeWriter& writer, const Object& object, const DescribeContext&) {
  const Json& hard = Field(object.doc(), "status.hard");
  const Json& used = Field(object.doc(), "status.used");
  writer.Row(0, {"Resource", "Used", "Hard"});
  writer.Row(0, {"--------", "----", "----"});
  if (!hard.is_object()) return;
  for (const auto& [resource, amount] : hard.items())
    writer.Row(0, {resource, used.value(resource, "0"), amount.get<std::string>()});
}

void DescribeNode(DescribeWriter& writer, const Object& object, const DescribeContext& context) {
  const Json& doc = object.doc();
  writer.Field(0, "CreationTimestamp", FieldText(doc, "metadata.creationTimestamp"));
  std::vector<std::string> taints;
  for (const auto& taint : FieldList(doc, "spec.taints"))
    taints.push_back(FieldText(taint, "key") + "=" + FieldText(taint, "value") + ":" +
                     FieldText(taint, "effect"));
  writer.Field(0, "Taints", Join(taints, ", "));
  writer.Field(0, "Unschedulable", Field(doc, "spec.unschedulable") == true ? "true" : "false");
  DescribeConditions(writer, doc);
  writer.Heading(0, "Addresses:");
  for (const auto& address : FieldList(doc, "status.addresses"))
    writer.Field(1, FieldText(address, "type"), FieldText(address, "address"));
  DescribeQuantities(writer, "Capacity", Field(doc, "status.capacity"));
  DescribeQuantities(writer, "Allocatable", Field(doc, "status.allocatable"));
  writer.Heading(0, "Non-terminated Pods: (" + std::to_string(context.related.size()) + " in total)");
  writer.Row(1, {"Namespace", "Name", "Status", "Limits"});
  writer.Row(1, {"---------", "----", "------", "------"});
  for (const auto& pod : context.related) {
    std::vector<std::string> limits;
    for (const auto& container : FieldList(pod.doc(), "spec.containers"))
      if (const Json& of = Field(container, "resources.limits"); of.is_object())
        limits.push_back(JoinLabels(of, ","));
    writer.Row(1,
               {pod.key().ns, pod.key().name, PodStatusWord(pod.doc()), TextOr(Join(limits, ";"), "<none>")});
  }
}

void DescribeService(DescribeWriter& writer, const Object& object, const DescribeContext& context) {
  const Json& doc = object.doc();
  writer.Field(0, "Selector", JoinLabels(Field(doc, "spec.selector"), ","));
  writer.Field(0, "Type", TextOr(FieldText(doc, "spec.type"), "ClusterIP"));
  writer.Field(0, "IP", FieldText(doc, "spec.clusterIP"));
  for (const auto& port : FieldList(doc, "spec.ports")) {
    const std::string protocol = "/" + TextOr(FieldText(port, "protocol"), "TCP");
    writer.Field(0, "Port",
                 TextOr(FieldText(port, "name"), "<unset>") + "  " + FieldText(port, "port") + protocol);
    writer.Field(0, "TargetPort", FieldText(port, "targetPort") + protocol);
    std::vector<std::string> endpoints;
    for (const auto& pod : context.related)
      if (const auto view = ViewPod(pod); !view.address.empty() && view.phase == "Running")
        endpoints.push_back(
            view.address + ":" +
            std::to_string(TargetPort(object, static_cast<int>(FieldInt(port, "port")), pod)));
    writer.Field(0, "Endpoints", Join(endpoints, ","));
  }
}

}  // namespace tfemu::api
