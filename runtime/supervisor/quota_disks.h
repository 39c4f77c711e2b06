// Folders that hold at most so many bytes: a file system of that size, kept as one sparse file inside the
// folder, lies over it in our mount namespace.
#pragma once

#include <map>
#include <string>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"
#include "runtime/runtime.h"

namespace tfemu::supervisor {

class QuotaDisks {
 public:
  QuotaDisks() = default;
  QuotaDisks(const QuotaDisks&) = delete;
  ~QuotaDisks();  // unmounts

  // Makes the folder and its file system where they are not there yet. What has become too small grows at
  // once if the kernel lets us (CAP_SYS_RESOURCE), else when nobody uses it. Mounted until Drop or the end:
  // two mounts of one file would spoil it.
  Result<void> Use(const runtime::Quota& quota);
  void Leave(const std::string& folder);
  void Drop(const std::string& folder);

  struct Space {
    uint64_t used = 0, size = 0;
    bool full = false;
  };
  static Space Measure(const std::string& folder);

 private:
  struct Disk {
    UniqueFd file, loop;
    uint64_t bytes = 0;
    int users = 0;  // pods
  };
  static Result<void> Mount(const runtime::Quota& quota, Disk& disk);
  static Result<void> GrowMounted(const runtime::Quota& quota, Disk& disk);

  std::map<std::string, Disk> disks_;  // by folder
};

}  // namespace tfemu::supervisor
