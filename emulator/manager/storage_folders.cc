#include "emulator/manager/storage_folders.h"

#include <algorithm>

#include "emulator/base/strings.h"
#include "emulator/controllers/provisioner.h"

namespace tfemu::manager {
namespace {

using runtime::Volume;

constexpr unsigned kFolderMode = 0755, kBucketMode = 0777, kFileMode = 0644;

bool IsPlain(const api::NetworkDirectory& directory) {
  const auto parts = Split(directory.path, '/');
  return std::ranges::find(parts, "..") == parts.end() && directory.server.find('/') == std::string::npos &&
         directory.server != ".." && directory.server != "." && !directory.server.empty();
}

}  // namespace

StorageFolder StorageFolders::BaseOf(const api::NetworkDirectory& directory) const {
  const auto& mapped = directory.object_storage ? settings_.oss : settings_.nas;
  if (const auto found = mapped.find(directory.server); found != mapped.end()) return found->second;
  return {settings_.state_folder + (directory.object_storage ? "/oss/" : "/nas/") + directory.server, 0};
}

Result<std::string> StorageFolders::FolderOf(const api::NetworkDirectory& directory) const {
  if (!IsPlain(directory))
    return Error{Reason::kInvalid, "network storage " + directory.server + ":" + directory.path +
                                       " is not a plain server and path"};
  std::string path = BaseOf(directory).folder + (directory.path.starts_with("/") ? "" : "/") + directory.path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<Volume> StorageFolders::Directory(const std::string& name,
                                         const api::NetworkDirectory& directory) const {
  ASSIGN_OR_RETURN(std::string folder, FolderOf(directory));
  Volume volume{name, Volume::Type::kDirectory, std::move(folder)};
  volume.create_mode = directory.mode.value_or(directory.object_storage ? kBucketMode : kFolderMode);
  volume.read_only = directory.read_only;
  const StorageFolder base = BaseOf(directory);
  volume.host_base = base.folder;
  if (base.quota_bytes > 0) volume.quotas.push_back({base.folder, base.quota_bytes});
  return volume;
}

Volume StorageFolders::HostPath(const std::string& name, const std::string& path, const std::string& type) {
  Volume volume{name, Volume::Type::kDirectory, path};
  if (type.empty() || type == "DirectoryOrCreate") volume.create_mode = kFolderMode;
  if (type == "FileOrCreate") volume.create_mode = kFileMode;
  volume.host_type = type;
  return volume;
}

Result<Volume> StorageFolders::Persistent(const std::string& name, const api::PersistentVolume& pv) const {
  const auto finish = [&](Volume volume) {
    if (pv.access_modes == std::vector<std::string>{"ReadOnlyMany"}) volume.read_only = true;
    return volume;
  };
  if (pv.network) {
    ASSIGN_OR_RETURN(Volume volume, Directory(name, *pv.network));
    if (controllers::HasQuota(pv))
      volume.quotas.push_back({volume.host_path, static_cast<uint64_t>(pv.capacity.Units())});
    return finish(std::move(volume));
  }
  if (!pv.host_path.empty()) return finish(HostPath(name, pv.host_path, pv.host_path_type));
  if (!pv.local_path.empty()) {
    Volume volume{name, Volume::Type::kDirectory, pv.local_path};
    volume.host_type = "local";
    return finish(std::move(volume));
  }
  return Error{Reason::kInvalid, "persistentvolume \"" + pv.meta.name + "\": " + pv.unsupported};
}

std::optional<StorageFolders::Discard> StorageFolders::DiscardOf(const api::PersistentVolume& volume,
                                                                 const std::string& stamp) const {
  if (!controllers::MadeByProvisioning(volume)) return std::nullopt;
  std::string folder = volume.host_path;
  if (volume.network) {
    const auto found = FolderOf(*volume.network);
    if (!found.ok()) return std::nullopt;
    folder = found.value();
  }
  const auto parts = Split(folder, '/');
  if (std::ranges::find(parts, "..") != parts.end()) return std::nullopt;
  const bool ours = folder.starts_with(settings_.state_folder + "/nas/") ||
                    folder.starts_with(settings_.state_folder + "/local-path/");
  if (ours && !controllers::ArchivesOnDelete(volume)) return Discard{folder, ""};
  if (!volume.network && !ours) return std::nullopt;
  const size_t slash = folder.find_last_of('/');
  return Discard{folder, folder.substr(0, slash) + "/archived-" + folder.substr(slash + 1) + "." + stamp};
}

}  // namespace tfemu::manager
