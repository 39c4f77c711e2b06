// What a pod's dnsPolicy and dnsConfig make of its resolv.conf, as the kubelet does.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/pod.h"

namespace tfemu::manager {

struct ResolverSettings {
  std::vector<std::string> servers, searches, options;
  friend bool operator==(const ResolverSettings&, const ResolverSettings&) = default;
};

// The address at which pods reach the cluster's DNS.
inline constexpr const char* kClusterDns = "10.96.0.10";

// Of a node's /etc/resolv.conf.
ResolverSettings ParseResolvConf(const std::string& text);
// `node` counts for dnsPolicy Default.
ResolverSettings ResolverOf(const api::PodDns& dns, const std::string& ns, const std::string& cluster_domain,
                            const ResolverSettings& node);

}  // namespace tfemu::manager
