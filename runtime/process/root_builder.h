// Carries out a mount plan and makes the result the root; for the child between clone3 and exec.
#pragma once

#include <string>
#include <vector>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"
#include "runtime/process/mount_plan.h"

namespace tfemu::process {

// `stage` is an existing folder. The caller has a mount namespace of its own, which nothing else looks at.
Result<void> BuildRoot(const std::string& stage, const std::vector<MountStep>& steps);

// Opens what is at `path` below `root` as if that were "/", so that no symbolic link leads out. What is
// missing is made: folders on the way, and at the end a folder or an empty file.
Result<UniqueFd> OpenBelow(int root, const std::string& path, bool folder);

// As OpenBelow, for a folder that containers write to: a symbolic link that leads out is refused, even by a
// path that would be inside if the volume were "/".
Result<UniqueFd> OpenSubPath(int volume, const std::string& path);

// The host as the kernel shows it.
class KernelHostView final : public HostView {
 public:
  std::vector<HostEntry> List(const std::string& folder) const override;
  bool Exists(const std::string& path) const override;
};

}  // namespace tfemu::process
