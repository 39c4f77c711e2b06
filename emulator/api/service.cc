#include "emulator/api/service.h"

#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/decode.h"
#include "emulator/api/validation.h"

namespace tfemu::api {

Service DecodeService(const Object& object) {
  Service service;
  service.meta = DecodeMeta(object);
  const Json& spec = Member(object.doc(), "spec");
  if (const std::string type = Text(spec, "type"); !type.empty()) service.type = type;
  service.cluster_ip = Text(spec, "clusterIP");
  service.selector = DecodeLabelMap(Member(spec, "selector"));
  service.publish_not_ready_addresses = Bool(spec, "publishNotReadyAddresses");
  for (const Json& p : Items(spec, "ports")) {
    ServicePort port{Text(p, "name"), Text(p, "protocol"), Text(p, "targetPort")};
    port.port = static_cast<int>(Int(p, "port").value_or(0));
    port.target_port =
        static_cast<int>(Int(p, "targetPort").value_or(port.target_name.empty() ? port.port : 0));
    service.ports.push_back(std::move(port));
  }
  return service;
}

void SetServiceDefaults(Json& service) {
  Json& spec = service["spec"];
  SetDefault(spec, "type", "ClusterIP");
  SetDefault(spec, "sessionAffinity", "None");
  SetDefault(spec, "internalTrafficPolicy", "Cluster");
  SetDefault(spec, "ipFamilies", Json::array({"IPv4"}));
  SetDefault(spec, "ipFamilyPolicy", "SingleStack");
  if (const std::string ip = Text(spec, "clusterIP"); !ip.empty())
    SetDefault(spec, "clusterIPs", Json::array({ip}));
  if (spec.contains("ports") && spec["ports"].is_array()) {
    for (Json& port : spec["ports"]) {
      SetDefault(port, "protocol", "TCP");
      if (port.contains("port")) SetDefault(port, "targetPort", port["port"]);
    }
  }
  SetDefault(service["status"], "loadBalancer", Json::object());
}

void SetClusterIp(Json& service, const std::string& address) {
  service["spec"]["clusterIP"] = address;
  service["spec"]["clusterIPs"] = Json::array({address});
}

std::vector<FieldMessage> ValidateService(const Json& service, const Json*) {
  Messages messages;
  CheckMeta(service, messages);
  const std::string name = Text(Member(service, "metadata"), "name");
  if (const auto problem = Dns1035Problem(name); !problem.empty() && NameProblem(name).empty())
    messages.push_back({"metadata.name", "Invalid value: \"" + name + "\": " + problem});
  const Json& spec = Member(service, "spec");
  const Json& ports = Items(spec, "ports");
  CheckOneOf(spec, "type", "spec", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, messages);
  if (ports.empty() && Text(spec, "clusterIP") != "None")
    messages.push_back({"spec.ports", "Required value"});
  std::set<std::string> names;
  for (size_t i = 0; const Json& port : ports) {
    const std::string at = "spec.ports[" + std::to_string(i++) + "]";
    if (ports.size() > 1) CheckRequired(port, "name", at, messages);
    if (const std::string n = Text(port, "name"); !n.empty() && !names.insert(n).second)
      messages.push_back({at + ".name", "Duplicate value: \"" + n + "\""});
    const auto number = Int(port, "port");
    if (!number) messages.push_back({at + ".port", "Required value"});
    else if (*number < 1 || *number > 65535)
      messages.push_back({at + ".port", "Invalid value: " + std::to_string(*number) +
                                            ": must be between 1 and 65535, inclusive"});
  }
  return messages;
}

std::vector<const Pod*> Endpoints(const Service& service, const std::vector<Pod>& pods) {
  std::vector<const Pod*> endpoints;
  if (service.selector.empty()) return endpoints;
  const Selector selector = SelectorOf(service.selector);
  for (const Pod& pod : pods) {
    if (pod.meta.ns != service.meta.ns || pod.status.pod_ip.empty() || pod.finished()) continue;
    if (!pod.ready() && !service.publish_not_ready_addresses) continue;
    if (selector.Matches(pod.meta.labels)) endpoints.push_back(&pod);
  }
  return endpoints;
}

int TargetPort(const ServicePort& port, const Pod& pod) {
  if (port.target_name.empty()) return port.target_port;
  for (const Container& container : pod.spec.containers)
    for (const ContainerPort& candidate : container.ports)
      if (candidate.name == port.target_name) return candidate.port;
  return 0;
}

}  // namespace tfemu::api
