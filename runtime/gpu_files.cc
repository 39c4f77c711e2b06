#include "runtime/gpu_files.h"

namespace tfemu::runtime {

GpuFolders GpuFoldersOf(const std::string& state_folder, const std::string& pod_uid,
                        const std::string& container) {
  const std::string base = state_folder + "/gpu/" + pod_uid + "/" + container;
  return {base + "/devices", base + "/use"};
}

}  // namespace tfemu::runtime
