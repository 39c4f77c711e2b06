// The cluster's names: services, endpoints, ports, pods, and back from addresses.
#include "emulator/controllers/dns_zone.h"

#include <doctest/doctest.h>

namespace tfemu::controllers {
namespace {

using Type = DnsQuestion::Type;

api::Pod Pod(const std::string& name, const std::string& address, bool ready,
             const std::string& hostname = "") {
  api::Pod pod;
  pod.meta.name = name;
  pod.meta.ns = "default";
  pod.meta.labels = {{"job", "a"}};
  pod.status.phase = api::PodPhase::kRunning;
  pod.status.pod_ip = address;
  pod.status.conditions = {{"Ready", ready}};
  pod.spec.hostname = hostname;
  pod.spec.subdomain = hostname.empty() ? "" : "ring";
  return pod;
}

api::Service Service(const std::string& name, const std::string& ip) {
  api::Service service;
  service.meta.name = name;
  service.meta.ns = "default";
  service.cluster_ip = ip;
  service.selector = {{"job", "a"}};
  service.ports = {{"http", "TCP", "", 80, 8080}};
  return service;
}

DnsAnswer Ask(const std::string& name, Type type = Type::kA) {
  const std::vector<api::Service> services = {Service("ring", "None"), Service("web", "10.96.7.7")};
  DnsView view;
  view.custom_domain = "tf.training.com";
  view.services = [&] { return services; };
  view.service = [&](const std::string& ns, const std::string& wanted) -> std::optional<api::Service> {
    for (const auto& service : services)
      if (service.meta.ns == ns && service.meta.name == wanted) return service;
    return std::nullopt;
  };
  view.pods = [](const std::string& ns) -> std::vector<api::Pod> {
    if (!ns.empty() && ns != "default") return {};
    return {Pod("p0", "10.244.0.2", true), Pod("p1", "10.244.0.3", false),
            Pod("p2", "10.244.0.4", true, "two")};
  };
  return Resolve(view, {name, type});
}

std::vector<std::string> Targets(const DnsAnswer& answer) {
  std::vector<std::string> targets;
  for (const auto& record : answer.records) targets.push_back(record.target);
  return targets;
}

using Names = std::vector<std::string>;

TEST_CASE("the domain of TF_CONFIG's names is answered as the cluster's own, and nothing else below it is") {
  CHECK(Ask("ring.default.svc.tf.training.com") == Ask("ring.default.svc.cluster.local"));
  CHECK(Ask("ring.default.svc.tf.training.com").records.size() == 2);
  CHECK(!Ask("ring.default.tf.training.com").exists);
  CHECK(!Ask("www.tf.training.com").exists);
}

TEST_CASE("a service with an address has it, a headless one its ready pods") {
  CHECK(Targets(Ask("web.default.svc.cluster.local")) == Names{"10.96.7.7"});
  CHECK(Targets(Ask("Ring.Default.SVC.cluster.local")) == Names{"10.244.0.2", "10.244.0.4"});
}

TEST_CASE("endpoints go by hostname in their subdomain, else by their dashed address") {
  CHECK(Targets(Ask("two.ring.default.svc.cluster.local")) == Names{"10.244.0.4"});
  CHECK(Targets(Ask("10-244-0-2.ring.default.svc.cluster.local")) == Names{"10.244.0.2"});
  CHECK_FALSE(Ask("p0.ring.default.svc.cluster.local").exists);
  CHECK(Targets(Ask("10-244-9-9.default.pod.cluster.local")) == Names{"10.244.9.9"});
}

TEST_CASE("a name that exists without the record asked for is no NXDOMAIN") {
  const DnsAnswer other = Ask("web.default.svc.cluster.local", Type::kOther);
  CHECK(other.exists);
  CHECK(other.records.empty());
  CHECK(Ask("default.svc.cluster.local").exists);
  CHECK(Ask("cluster.local").exists);
  for (const char* name : {"nix.default.svc.cluster.local", "ring.other.svc.cluster.local", "example.com",
                           "a.b.c.d.e.svc.cluster.local"}) {
    INFO(name);
    CHECK_FALSE(Ask(name).exists);
  }
}

TEST_CASE("named ports") {
  const DnsAnswer direct = Ask("_http._tcp.web.default.svc.cluster.local", Type::kSrv);
  REQUIRE(direct.records.size() == 1);
  CHECK(direct.records[0] == DnsRecord{DnsRecord::Type::kSrv, "web.default.svc.cluster.local", 80});
  CHECK(Targets(Ask("_http._tcp.ring.default.svc.cluster.local", Type::kSrv)) ==
        Names{"10-244-0-2.ring.default.svc.cluster.local", "two.ring.default.svc.cluster.local"});
}

TEST_CASE("addresses lead back to names") {
  CHECK(Targets(Ask("7.7.96.10.in-addr.arpa", Type::kPtr)) == Names{"web.default.svc.cluster.local"});
  CHECK(Targets(Ask("4.0.244.10.in-addr.arpa", Type::kPtr)) == Names{"two.ring.default.svc.cluster.local"});
  CHECK_FALSE(Ask("9.9.9.9.in-addr.arpa", Type::kPtr).exists);
}

}  // namespace
}  // namespace tfemu::controllers
