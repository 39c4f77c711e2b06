#include "emulator/manager/pod_dns.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::manager {
namespace {

constexpr size_t kMostServers = 3;  // of the C library, and so of the kubelet

void AddNew(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& item : from)
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
}

std::string OptionName(const std::string& option) { return option.substr(0, option.find(':')); }

ResolverSettings ByPolicy(const std::string& policy, const std::string& ns, const std::string& domain,
                          const ResolverSettings& node) {
  if (policy == "None") return {};
  if (policy == "Default") return node;
  return {{kClusterDns}, {ns + ".svc." + domain, "svc." + domain, domain}, {"ndots:5"}};
}

}  // namespace

ResolverSettings ParseResolvConf(const std::string& text) {
  ResolverSettings settings;
  for (const std::string& line : Split(text, '\n')) {
    std::vector<std::string> words;
    for (const std::string& part : Split(line, ' '))
      for (const std::string& word : Split(part, '\t'))
        if (!Trim(word).empty()) words.emplace_back(Trim(word));
    if (words.size() < 2) continue;
    const std::vector<std::string> values(words.begin() + 1, words.end());
    if (words[0] == "nameserver") settings.servers.push_back(values[0]);
    if (words[0] == "search") settings.searches = values;  // the last line counts
    if (words[0] == "options") AddNew(values, settings.options);
  }
  return settings;
}

ResolverSettings ResolverOf(const api::PodDns& dns, const std::string& ns, const std::string& cluster_domain,
                            const ResolverSettings& node) {
  ResolverSettings settings = ByPolicy(dns.policy, ns, cluster_domain, node);
  AddNew(dns.nameservers, settings.servers);
  AddNew(dns.searches, settings.searches);
  if (settings.servers.size() > kMostServers) settings.servers.resize(kMostServers);
  for (const auto& [name, value] : dns.options) {
    std::erase_if(settings.options, [&](const std::string& known) { return OptionName(known) == name; });
    settings.options.push_back(value.empty() ? name : name + ":" + value);
  }
  return settings;
}

}  // namespace tfemu::manager
