#include "runtime/supervisor/pod_volumes.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/process/files.h"
#include "runtime/process/mount_plan.h"
#include "runtime/process/root_builder.h"
#include "runtime/process/system_error.h"
#include "runtime/supervisor/volume_ownership.h"

namespace tfemu::supervisor {
namespace {

using process::SystemError;

Result<void> MakeOpenFolder(const std::string& path, unsigned mode) {
  RETURN_IF_ERROR(process::MakeFolders(path));
  if (::chmod(path.c_str(), mode)) return SystemError("chmod " + path);
  return {};
}

// The kubelet's checks and words.
Result<void> CheckHostPath(const runtime::Volume& volume) {
  struct stat status {};
  const bool there = ::stat(volume.host_path.c_str(), &status) == 0;
  const auto fail = [&](const std::string& what) {
    return Error{Reason::kNotFound, "hostPath type check failed: " + volume.host_path + " " + what};
  };
  const struct {
    std::string_view type;
    bool holds;
    const char* what;
  } kChecks[] = {{"", there, "does not exist"},
                 {"Directory", S_ISDIR(status.st_mode), "is not a directory"},
                 {"DirectoryOrCreate", S_ISDIR(status.st_mode), "is not a directory"},
                 {"File", S_ISREG(status.st_mode), "is not a file"},
                 {"FileOrCreate", S_ISREG(status.st_mode), "is not a file"},
                 {"Socket", S_ISSOCK(status.st_mode), "is not a socket file"},
                 {"CharDevice", S_ISCHR(status.st_mode), "is not a character device"},
                 {"BlockDevice", S_ISBLK(status.st_mode), "is not a block device"}};
  for (const auto& check : kChecks) {
    if (volume.host_type != check.type) continue;
    if (!there || !check.holds) return fail(check.what);
    return {};
  }
  // The words of other sources: "local volume" for a PersistentVolume of that kind.
  if (there) return {};
  return Error{Reason::kNotFound, "path \"" + volume.host_path + "\" does not exist"};
}

std::set<std::string> Names(const std::vector<runtime::File>& files) {
  std::set<std::string> names;
  for (const auto& file : files) names.insert(file.path);
  return names;
}

// A file appears with its content or not at all; tmpfs renames within a folder.
Result<void> PutFile(const std::string& folder, const runtime::File& file, bool unseen) {
  std::string relative;
  if (!process::NormalizePath(file.path, relative) || relative.empty())
    return Error{Reason::kInvalid, "the file name \"" + file.path + "\" leads out of the volume"};
  const std::string target = folder + "/" + relative;
  if (relative.find('/') != std::string::npos)
    RETURN_IF_ERROR(process::MakeFolders(process::ParentFolder(target)));
  if (unseen) return process::CreateFile(target, file.content, file.mode);
  const auto present = process::ReadFile(target);
  if (present.ok() && present.value() == file.content) return {};
  const std::string fresh = process::ParentFolder(target) + "/..new";
  RETURN_IF_ERROR(process::CreateFile(fresh, file.content, file.mode));
  if (::rename(fresh.c_str(), target.c_str())) return SystemError("rename " + target);
  return {};
}

// The folder's true path, made where it is missing.
Result<std::string> OpenBased(const runtime::Volume& volume) {
  RETURN_IF_ERROR(process::MakeFolders(volume.host_base));
  const UniqueFd base(::open(volume.host_base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!base.valid()) return SystemError(volume.host_base);
  std::string relative;
  if (!volume.host_path.starts_with(volume.host_base) ||
      !process::NormalizePath(volume.host_path.substr(volume.host_base.size()), relative))
    return Error{Reason::kInvalid, volume.host_path + " is not below " + volume.host_base};
  const bool fresh = ::access(volume.host_path.c_str(), F_OK) != 0;
  ASSIGN_OR_RETURN(const UniqueFd folder,
                   process::OpenBelow(base.get(), relative.empty() ? "." : relative, true));
  const std::string name = "/proc/self/fd/" + std::to_string(folder.get());
  if (fresh && volume.create_mode && ::chmod(name.c_str(), *volume.create_mode))
    return SystemError("chmod " + volume.host_path);
  char text[4096];
  const ssize_t size = ::readlink(name.c_str(), text, sizeof text);
  if (size <= 0) return SystemError("readlink " + name);
  return std::string(text, static_cast<size_t>(size));
}

}  // namespace

PodVolumes::PodVolumes(PodHost& host, const std::string& uid)
    : quotas_(host.quotas),
      memory_folder_(host.scratch + "/pods/" + uid),
      disk_folder_(host.disk + "/pods/" + uid) {}

Result<void> PodVolumes::Make(const std::vector<runtime::Volume>& volumes) {
  RETURN_IF_ERROR(MakeOpenFolder(shm(), 01777));
  for (const auto& volume : volumes) {
    auto path = MakeOne(volume);
    if (path.ok() && volume.group) {
      const auto given = GiveToGroup(volume, path.value());
      if (!given.ok()) path = given.error();
    }
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
  for (const auto& quota : volume.quotas) {
    RETURN_IF_ERROR(quotas_.Use(quota));
    limited_.push_back(quota.folder);
  }
  if (!volume.host_base.empty()) return OpenBased(volume);
  const std::string& path = volume.host_path;
  if (::access(path.c_str(), F_OK) != 0 && volume.create_mode) {
    if (volume.host_type == "FileOrCreate")
      RETURN_IF_ERROR(process::CreateFile(path, "", *volume.create_mode));
    else RETURN_IF_ERROR(MakeOpenFolder(path, *volume.create_mode));
  }
  RETURN_IF_ERROR(CheckHostPath(volume));
  return path;
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
  for (const auto& file : volume.files) RETURN_IF_ERROR(PutFile(path, file, true));
  written_[volume.name] = Names(volume.files);
  return path;
}

Result<void> PodVolumes::Update(const runtime::Volume& volume) {
  const auto path = paths_.find(volume.name);
  if (path == paths_.end() || volume.type != runtime::Volume::Type::kFiles) return {};
  for (const auto& file : volume.files) RETURN_IF_ERROR(PutFile(path->second, file, false));
  std::set<std::string> now = Names(volume.files);
  for (const std::string& name : written_[volume.name])
    if (!now.contains(name)) ::unlink((path->second + "/" + name).c_str());
  written_[volume.name] = std::move(now);
  return volume.group ? GiveToGroup(volume, path->second) : Result<void>();
}

std::vector<std::string> PodVolumes::Release() {
  for (const auto& path : mounted_) ::umount2(path.c_str(), MNT_DETACH);
  mounted_.clear();
  for (const auto& folder : limited_) quotas_.Leave(folder);
  limited_.clear();
  std::vector<std::string> folders{memory_folder_};
  if (on_disk_) folders.push_back(disk_folder_);
  return folders;
}

}  // namespace tfemu::supervisor
