// A pod's volumes and its /dev/shm: made before its first container, gone with it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/base/result.h"
#include "runtime/runtime.h"

namespace tfemu::supervisor {

class PodVolumes {
 public:
  // `scratch` is the supervisor's own tmpfs; `disk` a folder for what may grow.
  PodVolumes(const std::string& scratch, const std::string& disk, const std::string& uid);

  Result<void> Make(const std::vector<runtime::Volume>& volumes);
  const std::map<std::string, std::string>& paths() const { return paths_; }
  std::string shm() const { return memory_folder_ + "/shm"; }

  // Unmounts, and says what is then to be removed, which may take long.
  std::vector<std::string> Release();

 private:
  Result<std::string> MakeOne(const runtime::Volume& volume);
  Result<std::string> MakeDirectory(const runtime::Volume& volume);
  Result<std::string> MakeMemory(const runtime::Volume& volume);
  Result<std::string> MakeFiles(const runtime::Volume& volume);

  std::string memory_folder_, disk_folder_;
  std::map<std::string, std::string> paths_;
  std::vector<std::string> mounted_;
  bool on_disk_ = false;
};

}  // namespace tfemu::supervisor
