// GpuFiles on the host's disk.
#pragma once

#include "runtime/gpu_files.h"

namespace tfemu::process {

class DiskGpuFiles final : public runtime::GpuFiles {
 public:
  Result<void> Make(const runtime::GpuFolders& folders) override;
  Result<void> Show(const runtime::GpuFolders& folders, const std::string& devices) override;
  std::vector<runtime::GpuReport> Reports(const runtime::GpuFolders& folders) const override;
  void Remove(const std::string& state_folder, const std::string& pod_uid) override;
};

}  // namespace tfemu::process
