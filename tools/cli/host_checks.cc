#include "tools/cli/host_checks.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "emulator/base/strings.h"

namespace tfemu::cli {
namespace {

namespace fs = std::filesystem;
using Grade = HostCheck::Grade;

std::string ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

HostCheck Kernel() {
  utsname name{};
  ::uname(&name);
  int major = 0, minor = 0;
  std::sscanf(name.release, "%d.%d", &major, &minor);
  if (major > 5 || (major == 5 && minor >= 7)) return {"kernel", Grade::kGood, name.release, ""};
  return {"kernel", Grade::kMissing,
          std::string(name.release) + " is too old: clone3 with pidfds and cgroups needs 5.7",
          "apt-get install linux-image-amd64, then reboot"};
}

HostCheck Privileges() {
  if (::geteuid() == 0) return {"privileges", Grade::kGood, "root: isolation level root", ""};
  return {"privileges", Grade::kMissing,
          "not root: pods with their own network and limits need root (isolation level root)",
          "sudo tfemu up"};
}

HostCheck Namespaces() {
  std::string missing;
  for (const char* type : {"mnt", "pid", "net", "ipc", "uts", "user"})
    if (!Exists(std::string("/proc/self/ns/") + type))
      missing += std::string(missing.empty() ? "" : ", ") + type;
  if (missing.empty()) return {"namespaces", Grade::kGood, "mnt, pid, net, ipc, uts, user", ""};
  return {"namespaces", Grade::kMissing, "the kernel lacks: " + missing,
          "use a kernel with CONFIG_NAMESPACES"};
}

HostCheck Cgroups() {
  const std::string controllers = ReadLine("/sys/fs/cgroup/cgroup.controllers");
  if (!controllers.empty()) {
    const bool enough =
        controllers.find("cpu") != std::string::npos && controllers.find("memory") != std::string::npos;
    return enough ? HostCheck{"cgroups", Grade::kGood, "v2: " + controllers, ""}
                  : HostCheck{"cgroups", Grade::kNotice,
                              "v2 without cpu or memory here: limits are not enforced", ""};
  }
  if (Exists("/sys/fs/cgroup/memory") && Exists("/sys/fs/cgroup/cpu"))
    return {
        "cgroups", Grade::kGood,
        "v1: cpu, memory" + std::string(Exists("/sys/fs/cgroup/unified") ? ", and v2 for membership" : ""),
        ""};
  return {"cgroups", Grade::kNotice, "none mounted: cpu and memory limits are not enforced",
          "mount -t cgroup2 none /sys/fs/cgroup"};
}

HostCheck Overlay() {
  std::ifstream file("/proc/filesystems");
  for (std::string line; std::getline(file, line);)
    if (line.ends_with("\toverlay")) return {"overlay file system", Grade::kGood, "there", ""};
  return {"overlay file system", Grade::kNotice, "not loaded yet: images with layers need it",
          "modprobe overlay"};
}

// Without a folder of modules the kernel has what it will ever have built in; it shows when the first pod
// starts.
HostCheck Bridge() {
  utsname name{};
  ::uname(&name);
  const bool loaded = Exists("/sys/module/bridge") || Exists("/proc/sys/net/bridge");
  if (loaded || !Exists(std::string("/lib/modules/") + name.release))
    return {"bridge", Grade::kGood,
            loaded ? "there" : "a kernel without modules: tried when the cluster starts", ""};
  return {"bridge", Grade::kNotice, "not loaded yet: loaded when the cluster starts",
          "modprobe -a bridge veth"};
}

HostCheck Python() {
  if (!Exists("/usr/bin/python3"))
    return {"python", Grade::kNotice, "no /usr/bin/python3: images with python requirements can't be made",
            "apt-get install python3 python3-venv"};
  for (const auto& folder :
       {"/usr/lib/python3", "/usr/lib/python3.11", "/usr/lib/python3.12", "/usr/lib/python3.13"})
    if (Exists(std::string(folder) + "/ensurepip")) return {"python", Grade::kGood, "python3 with venv", ""};
  return {"python", Grade::kNotice, "python3 without venv: images with python requirements can't be made",
          "apt-get install python3-venv"};
}

HostCheck Inotify() {
  const auto instances = ParseInt(ReadLine("/proc/sys/fs/inotify/max_user_instances")).value_or(0);
  if (instances >= 128) return {"inotify", Grade::kGood, std::to_string(instances) + " instances", ""};
  return {"inotify", Grade::kNotice,
          "only " + std::to_string(instances) + " instances: few logs can be followed at a time",
          "sysctl fs.inotify.max_user_instances=1024"};
}

HostCheck OpenFiles() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max >= 4096)
    return {"open files", Grade::kGood, "up to " + std::to_string(limit.rlim_max), ""};
  return {"open files", Grade::kNotice, "at most " + std::to_string(limit.rlim_max) + ": enough for few pods",
          "ulimit -Hn 65536"};
}

HostCheck Disk(const std::string& home) {
  fs::path folder = home;
  while (!Exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0)
    return {"disk", Grade::kNotice, "cannot look at " + folder.string(), ""};
  const auto free_gib = static_cast<uint64_t>(info.f_bavail) * info.f_frsize >> 30;
  const std::string text = std::to_string(free_gib) + " GiB free for " + home;
  if (free_gib >= 4) return {"disk", Grade::kGood, text, ""};
  return {"disk", Grade::kNotice, text + ": a TensorFlow environment takes 2",
          "set TFEMU_HOME to a larger disk"};
}

HostCheck Gpus() {
  if (Exists("/dev/nvidiactl")) return {"gpus", Grade::kGood, "an NVIDIA driver is there", ""};
  return {"gpus", Grade::kNotice, "none on this host: pods get virtual ones", "tfemu up --gpus 2"};
}

HostCheck Dataset() {
  if (Exists("/usr/share/datasets/fashion-mnist") || Exists("/usr/share/dataset-fashion-mnist") ||
      Exists("/usr/share/doc/dataset-fashion-mnist"))
    return {"training data", Grade::kGood, "dataset-fashion-mnist", ""};
  return {"training data", Grade::kNotice, "the example job trains on a Debian package that is not installed",
          "apt-get install dataset-fashion-mnist"};
}

}  // namespace

std::vector<HostCheck> CheckHost(const std::string& home) {
  return {Kernel(), Privileges(), Namespaces(), Cgroups(),  Overlay(), Bridge(),
          Python(), Inotify(),    OpenFiles(),  Disk(home), Gpus(),    Dataset()};
}

}  // namespace tfemu::cli
