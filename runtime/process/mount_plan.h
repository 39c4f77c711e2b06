// What a container's root is made of, in order; a pure function of the launch and of what the host has.
//
// The root is a tmpfs of the container's own, so it may write anywhere that is not listed here:
//   read-only from the host    bin sbin lib* usr srv nix gnu (symbolic links stay symbolic links)
//   the host's, writable       etc var opt: writes go to the container's memory and end with it
//   empty                      everything else; /var/tmp too. The host's /root, /home, /tmp, /run, … are not
//   shown a layer's folder           writable in the same way; merged over the host's folder of that name
//   where there is one a mount below a read-only  makes that top-level folder writable, in memory, so that
//   the target can be made
// With a read-only root all of that is read-only in the end, but for volumes, /dev and what the kernel gives.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/base/result.h"
#include "runtime/runtime.h"

namespace tfemu::process {

struct HostEntry {
  enum class Type { kFolder, kSymlink, kFile };
  std::string name;
  Type type = Type::kFolder;
  std::string link;  // a symlink's text
};

class HostView {
 public:
  virtual ~HostView() = default;
  virtual std::vector<HostEntry> List(const std::string& folder) const = 0;  // sorted by name
  virtual bool Exists(const std::string& path) const = 0;
};

struct MountStep {
  enum class Type {
    kFolder,         // with `mode`; stays as it is when it exists
    kSymlink,        // to `source`
    kFile,           // with `content` and `mode`
    kDevice,         // a character device with `mode`, `major`, `minor`
    kBind,           // of `source`, an absolute host path, or of its `sub_path`
    kOverlay,        // of `lowers`, the highest first; `files` and `hidden` folders lie over them
    kReadOnlySelf,   // what is at `target` already, if anything, and below it on the same file system
    kReadOnlyMount,  // the file system that is mounted at `target`; what is mounted below stays as it is
    kFileSystem,     // a fresh one of type `source` with options `content`
  };
  Type type;
  std::string target;  // relative to the root; "" is the root itself
  std::string source;
  std::string sub_path;
  std::string content;
  unsigned mode = 0755;
  unsigned major = 0, minor = 0;
  bool read_only = false;
  std::vector<std::string> lowers;
  std::vector<runtime::File> files;
  std::vector<std::string> hidden;
};

struct RootRequest {
  const runtime::PodLaunch& pod;
  const runtime::ContainerLaunch& container;
  std::map<std::string, std::string> volumes;  // name -> host path
  std::string shm;                             // the pod's folder for /dev/shm
  std::string message_file = {};               // seen at the container's message_path, when it has one
};

Result<std::vector<MountStep>> PlanRoot(const RootRequest& request, const HostView& host);

// hosts, hostname, resolv.conf, nsswitch.conf and the pod's own; a further "hosts" is added to ours.
std::vector<runtime::File> EtcFiles(const runtime::PodLaunch& pod);

// The container's environment: what it asks for, and HOSTNAME, PATH and (of root) HOME where it says nothing.
std::vector<std::string> ContainerEnvironment(const runtime::PodLaunch& pod,
                                              const runtime::ContainerLaunch& container);
// The value of `name` in an environment, or "".
std::string LookUp(const std::vector<std::string>& environment, const std::string& name);

// Without empty and "." parts; false when a part is "..".
bool NormalizePath(const std::string& path, std::string& relative);

inline constexpr const char* kClusterDns = "10.96.0.10";

}  // namespace tfemu::process
