// resolv.conf as dnsPolicy and dnsConfig have it.
#include "emulator/manager/pod_dns.h"

#include <doctest/doctest.h>

namespace tfemu::manager {
namespace {

const ResolverSettings kNode{{"192.0.2.1"}, {"corp.example"}, {"timeout:1"}};

ResolverSettings Of(const api::PodDns& dns) { return ResolverOf(dns, "team", "cluster.local", kNode); }

TEST_CASE("dnsPolicy chooses between the cluster's, the node's and none") {
  const ResolverSettings cluster{
      {"10.96.0.10"}, {"team.svc.cluster.local", "svc.cluster.local", "cluster.local"}, {"ndots:5"}};
  CHECK(Of({.policy = "ClusterFirst"}) == cluster);
  CHECK(Of({.policy = "ClusterFirstWithHostNet"}) == cluster);
  CHECK(Of({.policy = "Default"}) == kNode);
  CHECK(Of({.policy = "None", .nameservers = {"1.2.3.4"}}) == ResolverSettings{{"1.2.3.4"}, {}, {}});
}

TEST_CASE("dnsConfig adds to it, and options of a name replace it") {
  const auto merged = Of({.nameservers = {"1.1.1.1", "10.96.0.10", "2.2.2.2", "3.3.3.3"},
                          .searches = {"cluster.local", "more"},
                          .options = {{"ndots", "2"}, {"edns0", ""}}});
  CHECK(merged.servers == std::vector<std::string>{"10.96.0.10", "1.1.1.1", "2.2.2.2"});
  CHECK(merged.searches.back() == "more");
  CHECK(merged.searches.size() == 4);
  CHECK(merged.options == std::vector<std::string>{"ndots:2", "edns0"});
}

TEST_CASE("a node's resolv.conf is understood") {
  CHECK(ParseResolvConf("# no\nnameserver 192.0.2.1\nsearch a b\nsearch corp.example\noptions timeout:1\n") ==
        kNode);
}

}  // namespace
}  // namespace tfemu::manager
