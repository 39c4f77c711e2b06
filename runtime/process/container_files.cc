// The files and the environment that every container gets by itself.
#include <algorithm>

#include "emulator/base/strings.h"
#include "runtime/process/mount_plan.h"

namespace tfemu::process {
namespace {

constexpr const char* kDefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The host's resolver modules (mdns, systemd, ldap) would ask daemons that are not in the pod.
constexpr const char* kNameServiceSwitch =
    "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n"
    "protocols: files\nservices: files\nethers: files\nrpc: files\n";

std::string Hosts(const runtime::PodLaunch& pod) {
  return "# Kubernetes-managed hosts file.\n"
         "127.0.0.1\tlocalhost\n"
         "::1\tlocalhost ip6-localhost ip6-loopback\n"
         "fe00::0\tip6-localnet\n"
         "fe00::0\tip6-mcastprefix\n"
         "fe00::1\tip6-allnodes\n"
         "fe00::2\tip6-allrouters\n" +
         pod.address + "\t" + pod.hostname + "\n";
}

std::string ResolvConf(const runtime::PodLaunch& pod) {
  std::string text;
  if (!pod.dns_searches.empty()) text += "search " + Join(pod.dns_searches, " ") + "\n";
  for (const auto& server : pod.dns_servers) text += "nameserver " + server + "\n";
  if (pod.dns_servers.empty()) text += std::string("nameserver ") + kClusterDns + "\n";
  if (!pod.dns_options.empty()) text += "options " + Join(pod.dns_options, " ") + "\n";
  return text;
}

}  // namespace

std::vector<runtime::File> EtcFiles(const runtime::PodLaunch& pod) {
  std::vector<runtime::File> files{{"hosts", Hosts(pod)},
                                   {"hostname", pod.hostname + "\n"},
                                   {"resolv.conf", ResolvConf(pod)},
                                   {"nsswitch.conf", kNameServiceSwitch}};
  for (const auto& further : pod.etc_files) {
    const auto ours =
        std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.path == further.path; });
    if (ours == files.end()) files.push_back(further);
    else if (further.path == "hosts") ours->content += further.content;
    else *ours = further;
  }
  return files;
}

std::string LookUp(const std::vector<std::string>& environment, const std::string& name) {
  std::string value;  // the last one wins, as for getenv in a shell that was given both
  for (const auto& entry : environment)
    if (entry.starts_with(name + "=")) value = entry.substr(name.size() + 1);
  return value;
}

std::vector<std::string> ContainerEnvironment(const runtime::PodLaunch& pod,
                                              const runtime::ContainerLaunch& container) {
  std::vector<std::string> environment;
  std::string path = LookUp(container.env, "PATH");
  if (path.empty()) path = kDefaultPath;
  const bool python = !container.root.python_environment.empty();
  if (python) path = std::string(runtime::kPythonPrefix) + "/bin:" + path;
  environment.push_back("PATH=" + path);
  environment.push_back("HOSTNAME=" + pod.hostname);
  if (python) environment.push_back(std::string("VIRTUAL_ENV=") + runtime::kPythonPrefix);
  if (container.user.empty()) environment.push_back("HOME=/root");  // else only its root knows
  for (const auto& entry : container.env) {
    const std::string name = entry.substr(0, entry.find('='));
    if (name == "PATH") continue;
    std::erase_if(environment, [&](const auto& other) { return other.starts_with(name + "="); });
    environment.push_back(entry);
  }
  return environment;
}

bool NormalizePath(const std::string& path, std::string& relative) {
  std::vector<std::string> parts;
  for (auto& part : Split(path, '/')) {
    if (part == "..") return false;
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
  }
  relative = Join(parts, "/");
  return true;
}

}  // namespace tfemu::process
