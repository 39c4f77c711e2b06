// Which folder of the host stands for a directory of network storage, and what it may hold: the same folder
// on every node.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/pod.h"
#include "emulator/api/volume.h"
#include "runtime/runtime.h"

namespace tfemu::manager {

struct StorageFolder {
  std::string folder;
  uint64_t quota_bytes = 0;  // 0: none
};

struct StorageSettings {
  std::string state_folder;  // absolute
  // A server that is not listed gets state_folder/nas/SERVER, a bucket state_folder/oss/BUCKET.
  std::map<std::string, StorageFolder> nas, oss;
};

class StorageFolders {
 public:
  explicit StorageFolders(StorageSettings settings) : settings_(std::move(settings)) {}

  Result<std::string> FolderOf(const api::NetworkDirectory& directory) const;
  // As the runtime takes it; the error is what a kubelet would say.
  Result<runtime::Volume> Directory(const std::string& name, const api::NetworkDirectory& directory) const;
  Result<runtime::Volume> Persistent(const std::string& name, const api::PersistentVolume& volume) const;
  static runtime::Volume HostPath(const std::string& name, const std::string& path, const std::string& type);

  // What becomes of a provisioned volume's folder: `aside` is where it is kept, "" when it goes. Nothing
  // outside the state folder is ever removed.
  struct Discard {
    std::string folder, aside;
  };
  std::optional<Discard> DiscardOf(const api::PersistentVolume& volume, const std::string& stamp) const;
  const std::string& state_folder() const { return settings_.state_folder; }

 private:
  StorageFolder BaseOf(const api::NetworkDirectory& directory) const;

  StorageSettings settings_;
};

}  // namespace tfemu::manager
