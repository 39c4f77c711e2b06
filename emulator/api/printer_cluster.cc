// The cells of nodes, services and events.
#include <algorithm>

#include "emulator/api/gpu.h"
#include "emulator/api/printer_fields.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

std::string NodeStatus(const Json& node) {
  std::string status = "Unknown";
  for (const auto& condition : FieldList(node, "status.conditions"))
    if (FieldText(condition, "type") == "Ready")
      status = FieldText(condition, "status") == "True" ? "Ready" : "NotReady";
  if (Field(node, "spec.unschedulable") == true) status += ",SchedulingDisabled";
  return status;
}

std::string NodeRoles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  const Json& labels = Field(node, "metadata.labels");
  if (labels.is_object())
    for (const auto& [key, value] : labels.items()) {
      if (key.starts_with(kPrefix) && key.size() > kPrefix.size())
        roles.push_back(key.substr(kPrefix.size()));
      else if (key == "kubernetes.io/role" && value.is_string()) roles.push_back(value.get<std::string>());
    }
  std::ranges::sort(roles);
  return roles.empty() ? "<none>" : Join(roles, ",");
}

std::string NodeAddress(const Json& node, std::string_view type) {
  for (const auto& address : FieldList(node, "status.addresses"))
    if (FieldText(address, "type") == type) return TextOr(FieldText(address, "address"), "<none>");
  return "<none>";
}

// "2 x A10 (virtual)", one part for each model.
std::string NodeGpuText(const Json& node) {
  ObjectMeta meta;
  meta.annotations = DecodeLabelMap(Field(node, "metadata.annotations"));
  return GpuSummary(NodeGpusOf(meta));
}

std::string ServicePorts(const Json& service) {
  std::vector<std::string> ports;
  for (const auto& port : FieldList(service, "spec.ports")) {
    std::string text = FieldText(port, "port");
    if (const auto node_port = FieldInt(port, "nodePort"); node_port > 0)
      text += ":" + std::to_string(node_port);
    ports.push_back(text + "/" + TextOr(FieldText(port, "protocol"), "TCP"));
  }
  return ports.empty() ? "<none>" : Join(ports, ",");
}

std::string ExternalAddress(const Json& service) {
  const std::string type = FieldText(service, "spec.type");
  if (type == "ExternalName") return TextOr(FieldText(service, "spec.externalName"), "<none>");
  std::vector<std::string> addresses;
  for (const auto& ingress : FieldList(service, "status.loadBalancer.ingress"))
    addresses.push_back(TextOr(FieldText(ingress, "ip"), FieldText(ingress, "hostname")));
  for (const auto& address : FieldList(service, "spec.externalIPs"))
    if (address.is_string()) addresses.push_back(address.get<std::string>());
  if (!addresses.empty()) return Join(addresses, ",");
  return type == "LoadBalancer" ? "<pending>" : "<none>";
}

// An event has its times in one of three places, by the age of the API that wrote it.
std::string LastSeen(const Json& event) {
  for (const char* path : {"series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp"})
    if (auto time = FieldText(event, path); !time.empty()) return time;
  return FieldText(event, "metadata.creationTimestamp");
}

std::string FirstSeen(const Json& event) {
  for (const char* path : {"firstTimestamp", "eventTime"})
    if (auto time = FieldText(event, path); !time.empty()) return time;
  return FieldText(event, "metadata.creationTimestamp");
}

std::string EventSource(const Json& event) {
  const std::string component =
      TextOr(FieldText(event, "source.component"), FieldText(event, "reportingComponent"));
  const std::string host = TextOr(FieldText(event, "source.host"), FieldText(event, "reportingInstance"));
  return host.empty() || host == component ? component : component + ", " + host;
}

std::string EventCount(const Json& event) {
  const auto series = FieldInt(event, "series.count"), count = FieldInt(event, "count");
  return std::to_string(series > 0 ? series : std::max<int64_t>(count, 1));
}

}  // namespace

std::vector<std::string> PrintNode(const Json& node, Instant now) {
  return {FieldText(node, "metadata.name"),
          NodeStatus(node),
          NodeRoles(node),
          AgeOf(node, now),
          FieldText(node, "status.nodeInfo.kubeletVersion"),
          NodeAddress(node, "InternalIP"),
          NodeAddress(node, "ExternalIP"),
          TextOr(FieldText(node, "status.nodeInfo.osImage"), "<unknown>"),
          TextOr(FieldText(node, "status.nodeInfo.kernelVersion"), "<unknown>"),
          TextOr(FieldText(node, "status.nodeInfo.containerRuntimeVersion"), "<unknown>"),
          NodeGpuText(node)};
}

std::vector<std::string> PrintService(const Json& service, Instant now) {
  return {FieldText(service, "metadata.name"),
          TextOr(FieldText(service, "spec.type"), "ClusterIP"),
          TextOr(FieldText(service, "spec.clusterIP"), "<none>"),
          ExternalAddress(service),
          ServicePorts(service),
          AgeOf(service, now),
          JoinLabels(Field(service, "spec.selector"), ",")};
}

std::vector<std::string> PrintEvent(const Json& event, Instant now) {
  const std::string object =
      ToLower(FieldText(event, "involvedObject.kind")) + "/" + FieldText(event, "involvedObject.name");
  return {AgeSince(LastSeen(event), now),
          FieldText(event, "type"),
          FieldText(event, "reason"),
          object,
          FieldText(event, "involvedObject.fieldPath"),
          EventSource(event),
          FieldText(event, "message"),
          AgeSince(FirstSeen(event), now),
          EventCount(event),
          FieldText(event, "metadata.name")};
}

// "pods: 2/10, requests.cpu: 1/4": limits have a column of their own.
std::vector<std::string> PrintResourceQuota(const Json& quota, Instant now) {
  std::string requests, limits;
  const Json& hard = Field(quota, "status.hard");
  const Json& used = Field(quota, "status.used");
  if (hard.is_object())
    for (const auto& [resource, amount] : hard.items()) {
      std::string& text = resource.starts_with("limits.") ? limits : requests;
      text += (text.empty() ? "" : ", ") + resource + ": " + used.value(resource, "0") + "/" +
              amount.get<std::string>();
    }
  return {FieldText(quota, "metadata.name"), requests, limits, AgeOf(quota, now)};
}

}  // namespace tfemu::api
