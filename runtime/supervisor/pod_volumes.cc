#include "runtime/supervisor/pod_volumes.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/process/files.h"
#include "runtime/process/mount_plan.h"
#include "runtime/process/system_error.h"

namespace tfemu::supervisor {
namespace {

using process::SystemError;

Result<void> MakeOpenFolder(const std::string& path, unsigned mode) {
  RETURN_IF_ERROR(process::MakeFolders(path));
  if (::chmod(path.c_str(), mode)) return SystemError("chmod " + path);
  return {};
}

}  // namespace

PodVolumes::PodVolumes(const std::string& scratch, const std::string& disk, const std::string& uid)
    : memory_folder_(scratch + "/pods/" + uid), disk_folder_(disk + "/pods/" + uid) {}

Result<void> PodVolumes::Make(const std::vector<runtime::Volume>& volumes) {
  RETURN_IF_ERROR(MakeOpenFolder(shm(), 01777));
  for (const auto& volume : volumes) {
    auto path = MakeOne(volume);
    if (!path.ok())
      return Error{path.error().reason,
                   "MountVolume.SetUp failed for volume \"" + volume.name + "\" : " + path.error().message};
    paths_[volume.name] = std::move(path).value();
  }
  return {};
}

Result<std::string> PodVolumes::MakeOne(const runtime::Volume& volume) {
  using Type = runtime::Volume::Type;
  switch (volume.type) {
    case Type::kDirectory: return MakeDirectory(volume);
    case Type::kMemory: return MakeMemory(volume);
    case Type::kFiles: return MakeFiles(volume);
    case Type::kScratch: break;
  }
  on_disk_ = true;
  const std::string path = disk_folder_ + "/" + volume.name;
  RETURN_IF_ERROR(MakeOpenFolder(path, 0777));
  return path;
}

Result<std::string> PodVolumes::MakeDirectory(const runtime::Volume& volume) {
  if (::access(volume.host_path.c_str(), F_OK) == 0) return volume.host_path;
  if (!volume.create_mode)
    return Error{Reason::kNotFound, "hostPath type check failed: " + volume.host_path + " does not exist"};
  RETURN_IF_ERROR(MakeOpenFolder(volume.host_path, *volume.create_mode));
  return volume.host_path;
}

Result<std::string> PodVolumes::MakeMemory(const runtime::Volume& volume) {
  const std::string path = memory_folder_ + "/volumes/" + volume.name;
  RETURN_IF_ERROR(process::MakeFolders(path));
  std::string options = "mode=0777";
  if (volume.size_bytes) options += ",size=" + std::to_string(volume.size_bytes);
  if (::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()))
    return SystemError("mount tmpfs");
  mounted_.push_back(path);
  return path;
}

Result<std::string> PodVolumes::MakeFiles(const runtime::Volume& volume) {
  const std::string path = memory_folder_ + "/volumes/" + volume.name;
  RETURN_IF_ERROR(process::MakeFolders(path));
  for (const auto& file : volume.files) {
    std::string relative;
    if (!process::NormalizePath(file.path, relative) || relative.empty())
      return Error{Reason::kInvalid, "the file name \"" + file.path + "\" leads out of the volume"};
    const std::string target = path + "/" + relative;
    if (relative.find('/') != std::string::npos)
      RETURN_IF_ERROR(process::MakeFolders(process::ParentFolder(target)));
    RETURN_IF_ERROR(process::CreateFile(target, file.content, file.mode));
  }
  return path;
}

std::vector<std::string> PodVolumes::Release() {
  for (const auto& path : mounted_) ::umount2(path.c_str(), MNT_DETACH);
  mounted_.clear();
  std::vector<std::string> folders{memory_folder_};
  if (on_disk_) folders.push_back(disk_folder_);
  return folders;
}

}  // namespace tfemu::supervisor
