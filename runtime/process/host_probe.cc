#include "runtime/process/host_probe.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "runtime/process/cgroup.h"
#include "runtime/process/files.h"
#include "runtime/process/spawn.h"

namespace tfemu::process {
namespace {

constexpr int kOverlayFails = 3;

// In the namespaces a pod gets: 0, or kOverlayFails when only the overlay does not work.
int TryMounts() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr)) return 1;
  if (::mount("probe", "/tmp", "tmpfs", 0, nullptr)) return 1;
  for (const char* folder : {"/tmp/l", "/tmp/u", "/tmp/w", "/tmp/m"})
    if (!MakeFolders(folder).ok()) return 1;
  if (::mount("overlay", "/tmp/m", "overlay", 0, "lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w"))
    return kOverlayFails;
  return 0;
}

void TryNamespaces(HostCapabilities& host) {
  auto child = Clone({.namespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET},
                     TryMounts);
  if (!child.ok()) {
    host.lacks.push_back(
        {"namespaces cannot be made: " + child.error().message,
         host.root ? "in a container, run it with --privileged" : "run as root: sudo tfemu up", true});
    return;
  }
  const int code = Reap(child.value().pidfd.get()).exit_code;
  host.namespaces = code == 0 || code == kOverlayFails;
  host.overlay = code == 0;
  if (!host.namespaces)
    host.lacks.push_back({"file systems cannot be mounted in a new mount namespace",
                          "in a container, run it with --privileged", true});
  else if (!host.overlay)
    host.lacks.push_back({"the kernel offers no overlay file system", "modprobe overlay", true});
}

void LookForKernel(HostCapabilities& host) {
  utsname name{};
  ::uname(&name);
  host.kernel = name.release;
  int major = 0, minor = 0;
  std::sscanf(name.release, "%d.%d", &major, &minor);
  if (major < 5 || (major == 5 && minor < 12))
    host.lacks.push_back(
        {"the kernel " + host.kernel + " is older than 5.12 (mount_setattr)", "use a newer kernel", true});
}

void LookForCgroups(HostCapabilities& host) {
  host.cgroup_driver = MakeCgroupDriver(kCgroupMount, "probe")->name();
  const auto unified = ReadFile(std::string(kCgroupMount) + "/unified/cgroup.controllers");
  host.hybrid = host.cgroup_driver == "v1" && unified.ok();
  if (host.cgroup_driver != "none") return;
  const bool mounted = ::access((std::string(kCgroupMount) + "/cgroup.controllers").c_str(), F_OK) == 0 ||
                       ::access((std::string(kCgroupMount) + "/memory").c_str(), F_OK) == 0;
  host.lacks.push_back({"no writable cgroups: cpu and memory limits of pods are not enforced",
                        mounted ? "in a container, run it with --privileged --cgroupns=host"
                                : "mount -t cgroup2 none /sys/fs/cgroup"});
}

}  // namespace

bool HostCapabilities::CanRunPods() const {
  return std::none_of(lacks.begin(), lacks.end(), [](const Lack& lack) { return lack.fatal; });
}

HostCapabilities ProbeHost() {
  HostCapabilities host;
  host.root = ::geteuid() == 0;
  LookForKernel(host);
  TryNamespaces(host);
  LookForCgroups(host);
  return host;
}

}  // namespace tfemu::process
