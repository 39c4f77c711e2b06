#include "runtime/process/cgroup.h"

#include <dirent.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/process/files.h"

namespace tfemu::process {
namespace {

class NoCgroups final : public CgroupDriver {
 public:
  std::string_view name() const override { return "none"; }
  Result<void> Bound(int64_t) override { return {}; }
  Result<CgroupDoor> Make(const std::string&, const runtime::Limits&) override { return CgroupDoor{}; }
  Result<CgroupDoor> Open(const std::string&) override { return CgroupDoor{}; }
  int OomKills(const std::string&) const override { return 0; }
  bool Remove(const std::string&) override { return true; }
};

bool Usable(const std::string& folder) { return ::access(folder.c_str(), W_OK | X_OK) == 0; }

bool RemoveCgroupTree(const std::string& folder) {
  DIR* directory = ::opendir(folder.c_str());
  if (!directory) return errno == ENOENT;
  while (const dirent* entry = ::readdir(directory))
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') RemoveCgroupTree(folder + "/" + entry->d_name);
  ::closedir(directory);
  return ::rmdir(folder.c_str()) == 0;
}

}  // namespace

std::unique_ptr<CgroupDriver> MakeCgroupNone() { return std::make_unique<NoCgroups>(); }

CgroupVersion DetectCgroupVersion(const std::string& mount) {
  const auto controllers = ReadFile(mount + "/cgroup.controllers");
  if (controllers.ok() && controllers.value().find("memory") != std::string::npos && Usable(mount))
    return CgroupVersion::kV2;
  if (Usable(mount + "/memory") && Usable(mount + "/cpu")) return CgroupVersion::kV1;
  return CgroupVersion::kNone;
}

std::unique_ptr<CgroupDriver> MakeCgroupDriver(const std::string& mount, const std::string& cluster) {
  switch (DetectCgroupVersion(mount)) {
    case CgroupVersion::kV1: return MakeCgroupV1(mount, cluster);
    case CgroupVersion::kV2: return MakeCgroupV2(mount, cluster);
    case CgroupVersion::kNone: break;
  }
  return MakeCgroupNone();
}

int64_t ThreadBound() {
  int64_t most = int64_t{4} << 20;  // the most that Linux can have
  for (const char* file : {"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"})
    if (const auto text = ReadFile(file); text.ok())
      if (const int64_t here = std::atoll(text.value().c_str()); here > 0) most = std::min(most, here);
  return most * 3 / 4;
}

bool RemoveCgroups(const std::string& mount, const std::string& cluster) {
  bool gone = true;
  for (const char* place : {"", "/cpu", "/memory", "/pids"})
    gone = RemoveCgroupTree(mount + place + "/" + cluster) && gone;
  return gone;
}

}  // namespace tfemu::process
