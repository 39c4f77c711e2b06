// Limits and accounting of containers, whichever cgroup version this host has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"
#include "runtime/runtime.h"

namespace tfemu::process {

// How a process gets in: born there, or by writing "0" to each file before exec (which, unlike writing
// another process's number, takes no lock that waits for an RCU grace period).
struct CgroupDoor {
  UniqueFd clone_into;
  std::vector<std::string> join_files;
};

// Paths are relative to the cluster's own folder: "POD/CONTAINER".
class CgroupDriver {
 public:
  virtual ~CgroupDriver() = default;
  virtual std::string_view name() const = 0;
  // Makes the cluster's own folder; all that is in it may have so many threads together.
  virtual Result<void> Bound(int64_t threads) = 0;
  // Makes the folder, if absent, and sets its limits.
  virtual Result<CgroupDoor> Make(const std::string& path, const runtime::Limits& limits) = 0;
  virtual Result<CgroupDoor> Open(const std::string& path) = 0;
  virtual int OomKills(const std::string& path) const = 0;
  // False while something is left in it. "" is the cluster's own folder.
  virtual bool Remove(const std::string& path) = 0;
};

// `mount` is /sys/fs/cgroup outside tests; `cluster` names this cluster's folder below it.
std::unique_ptr<CgroupDriver> MakeCgroupV1(std::string mount, std::string cluster);
std::unique_ptr<CgroupDriver> MakeCgroupV2(std::string mount, std::string cluster);
std::unique_ptr<CgroupDriver> MakeCgroupNone();

enum class CgroupVersion { kNone, kV1, kV2 };
CgroupVersion DetectCgroupVersion(const std::string& mount);
std::unique_ptr<CgroupDriver> MakeCgroupDriver(const std::string& mount, const std::string& cluster);

// Removes the cluster's folder with all below it, once its processes are gone; false when something is left.
bool RemoveCgroups(const std::string& mount, const std::string& cluster);

// What a cluster may have of this host's threads: a program that forks without end leaves room for others.
int64_t ThreadBound();

inline constexpr const char* kCgroupMount = "/sys/fs/cgroup";

}  // namespace tfemu::process
