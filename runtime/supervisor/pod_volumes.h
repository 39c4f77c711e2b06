// A pod's volumes and its /dev/shm: made before its first container, gone with it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emulator/base/result.h"
#include "runtime/runtime.h"
#include "runtime/supervisor/pod_host.h"

namespace tfemu::supervisor {

class PodVolumes {
 public:
  // In the supervisor's own tmpfs, and on disk what may grow.
  PodVolumes(PodHost& host, const std::string& uid);

  Result<void> Make(const std::vector<runtime::Volume>& volumes);
  // Another content for a volume of files: each file is replaced whole.
  Result<void> Update(const runtime::Volume& volume);
  const std::map<std::string, std::string>& paths() const { return paths_; }
  std::string shm() const { return memory_folder_ + "/shm"; }
  std::string messages() const { return memory_folder_ + "/messages"; }

  // Unmounts, and says what is then to be removed, which may take long.
  std::vector<std::string> Release();

 private:
  Result<std::string> MakeOne(const runtime::Volume& volume);
  Result<std::string> MakeDirectory(const runtime::Volume& volume);
  Result<std::string> MakeMemory(const runtime::Volume& volume);
  Result<std::string> MakeFiles(const runtime::Volume& volume);

  QuotaDisks& quotas_;
  std::string memory_folder_, disk_folder_;
  std::map<std::string, std::string> paths_;
  std::vector<std::string> mounted_, limited_;
  std::map<std::string, std::set<std::string>> written_;  // files, by volume
  bool on_disk_ = false;
};

}  // namespace tfemu::supervisor
