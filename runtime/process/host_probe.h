// What this host can do for pods, and what would help where it cannot.
#pragma once

#include <string>
#include <vector>

namespace tfemu::process {

struct HostCapabilities {
  bool root = false;
  bool namespaces = false;  // net, mount, pid, uts and ipc, tried
  bool overlay = false;
  std::string cgroup_driver;  // "v1", "v2" or "none"
  bool hybrid = false;        // v1 controllers beside a cgroup2 tree
  std::string kernel;

  struct Lack {
    std::string what;  // "no cgroup limits: …"
    std::string hint;  // the command that would help
    bool fatal = false;
  };
  std::vector<Lack> lacks;
  bool CanRunPods() const;
};

// Tries the real thing in a child that is gone afterwards. The process must have one thread.
HostCapabilities ProbeHost();

}  // namespace tfemu::process
