// The folders through which programs in a pod see its virtual GPUs, and say what they do on them; what is in
// the files is said in runtime/gpu/contract.h.
#pragma once

#include <string>
#include <vector>

#include "emulator/base/result.h"

namespace tfemu::runtime {

// Of one container: both are folders of the host, to be mounted into it.
struct GpuFolders {
  std::string devices, use;
};
GpuFolders GpuFoldersOf(const std::string& state_folder, const std::string& pod_uid,
                        const std::string& container);

// What a program says of one GPU: its position in the container's view, how long it has kept it busy so far.
struct GpuReport {
  int pid = 0;
  int index = 0;
  int64_t busy_ns = 0, used_bytes = 0;
};

class GpuFiles {
 public:
  virtual ~GpuFiles() = default;
  virtual Result<void> Make(const GpuFolders& folders) = 0;
  // The devices file, whole; readers see the old one or the new one.
  virtual Result<void> Show(const GpuFolders& folders, const std::string& devices) = 0;
  virtual std::vector<GpuReport> Reports(const GpuFolders& folders) const = 0;
  virtual void Remove(const std::string& state_folder, const std::string& pod_uid) = 0;
};

}  // namespace tfemu::runtime
