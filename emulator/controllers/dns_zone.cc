#include "emulator/controllers/dns_zone.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::controllers {
namespace {

using api::Pod;
using api::Service;
using Type = DnsQuestion::Type;

std::string Dashed(std::string address) {
  std::ranges::replace(address, '.', '-');
  return address;
}

// The label of an endpoint in its service: its hostname when its subdomain is that service, else its address.
std::string EndpointLabel(const Service& service, const Pod& pod) {
  if (!pod.spec.hostname.empty() && pod.spec.subdomain == service.meta.name) return pod.spec.hostname;
  return Dashed(pod.status.pod_ip);
}

std::string ServiceName(const DnsView& view, const Service& service) {
  return service.meta.name + "." + service.meta.ns + ".svc." + view.domain;
}

DnsAnswer Addresses(const std::vector<const Pod*>& pods) {
  DnsAnswer answer{true, {}};
  for (const Pod* pod : pods) answer.records.push_back({DnsRecord::Type::kA, pod->status.pod_ip});
  return answer;
}

// SERVICE.NS.svc: the cluster address, or every endpoint of a headless service.
DnsAnswer ServiceAddresses(const Service& service, const std::vector<Pod>& pods) {
  if (!service.headless() && !service.cluster_ip.empty())
    return {true, {{DnsRecord::Type::kA, service.cluster_ip}}};
  return Addresses(Endpoints(service, pods));
}

DnsAnswer Srv(const DnsView& view, const Service& service, const std::vector<Pod>& pods,
              const std::string& port_name, const std::string& protocol) {
  DnsAnswer answer;
  for (const api::ServicePort& port : service.ports) {
    if (port_name != port.name || protocol != ToLower(port.protocol)) continue;
    answer.exists = true;
    if (!service.headless())
      answer.records.push_back({DnsRecord::Type::kSrv, ServiceName(view, service), port.port});
    else
      for (const Pod* pod : Endpoints(service, pods))
        answer.records.push_back({DnsRecord::Type::kSrv,
                                  EndpointLabel(service, *pod) + "." + ServiceName(view, service),
                                  api::TargetPort(port, *pod)});
  }
  return answer;
}

// `labels` stand before "svc.DOMAIN": [NS], [SERVICE NS], [ENDPOINT SERVICE NS] or [_PORT _PROTOCOL SERVICE
// NS].
DnsAnswer InServices(const DnsView& view, const std::vector<std::string>& labels, Type type) {
  if (labels.size() == 1) return {!view.pods(labels[0]).empty(), {}};
  if (labels.size() < 2 || labels.size() > 4) return {};
  const std::string& ns = labels.back();
  const auto service = view.service(ns, labels[labels.size() - 2]);
  if (!service) return {};
  const std::vector<Pod> pods = view.pods(ns);
  if (labels.size() == 4) {
    if (!labels[0].starts_with("_") || !labels[1].starts_with("_")) return {};
    DnsAnswer answer = Srv(view, *service, pods, labels[0].substr(1), labels[1].substr(1));
    if (type != Type::kSrv) answer.records.clear();
    return answer;
  }
  DnsAnswer answer;
  if (labels.size() == 2) {
    answer = ServiceAddresses(*service, pods);
  } else {
    auto endpoints = Endpoints(*service, pods);
    std::erase_if(endpoints, [&](const Pod* pod) { return EndpointLabel(*service, *pod) != labels[0]; });
    if (endpoints.empty()) return {};
    answer = Addresses(endpoints);
  }
  if (type != Type::kA) answer.records.clear();
  return answer;
}

// 10-244-0-7.NS.pod.DOMAIN.
DnsAnswer InPods(const std::vector<std::string>& labels, Type type) {
  if (labels.size() != 2) return {};
  std::string address = labels[0];
  std::ranges::replace(address, '-', '.');
  if (Split(address, '.').size() != 4 || address.find_first_not_of("0123456789.") != std::string::npos)
    return {};
  if (type != Type::kA) return {true, {}};
  return {true, {{DnsRecord::Type::kA, address}}};
}

DnsAnswer Reverse(const DnsView& view, const std::string& name) {
  auto parts = Split(name.substr(0, name.size() - std::string_view(".in-addr.arpa").size()), '.');
  std::ranges::reverse(parts);
  const std::string address = Join(parts, ".");
  DnsAnswer answer;
  const std::vector<Pod> pods = view.pods("");
  for (const Service& service : view.services()) {
    if (service.cluster_ip == address)
      answer.records.push_back({DnsRecord::Type::kPtr, ServiceName(view, service)});
    if (!service.headless()) continue;
    for (const Pod* pod : Endpoints(service, pods))
      if (pod->status.pod_ip == address)
        answer.records.push_back(
            {DnsRecord::Type::kPtr, EndpointLabel(service, *pod) + "." + ServiceName(view, service)});
  }
  answer.exists = !answer.records.empty();
  return answer;
}

}  // namespace

DnsAnswer Resolve(const DnsView& view, const DnsQuestion& question) {
  const std::string name = ToLower(question.name);
  if (name.ends_with(".in-addr.arpa")) return question.type == Type::kPtr ? Reverse(view, name) : DnsAnswer{};
  if (name == view.domain) return {true, {}};
  const bool custom = !view.custom_domain.empty() && name.ends_with(".svc." + view.custom_domain);
  const std::string& domain = custom ? view.custom_domain : view.domain;
  if (!name.ends_with("." + domain)) return {};
  auto labels = Split(name.substr(0, name.size() - domain.size() - 1), '.');
  const std::string section = labels.back();
  labels.pop_back();
  if (section == "svc") return labels.empty() ? DnsAnswer{true, {}} : InServices(view, labels, question.type);
  if (section == "pod") return InPods(labels, question.type);
  return {};
}

}  // namespace tfemu::controllers
