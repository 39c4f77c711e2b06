#include "runtime/supervisor/quota_disks.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "emulator/base/strings.h"
#include "runtime/process/files.h"
#include "runtime/process/spawn.h"
#include "runtime/process/system_error.h"

namespace tfemu::supervisor {
namespace {

using process::SystemError;

constexpr const char* kFileName = ".tfemu-quota.img";
constexpr const char* kPath = "/usr/sbin:/sbin:/usr/bin:/bin";
constexpr uint64_t kLeastBytes = 1 << 20;                   // ext4 needs about this much to be of use
constexpr uint64_t kSmall = 64 << 20;                       // below, small blocks waste less
constexpr unsigned long kResize = _IOW('f', 16, uint64_t);  // EXT4_IOC_RESIZE_FS

std::string FileOf(const std::string& folder) { return folder + "/" + kFileName; }

Result<void> CheckEmpty(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  if (!directory) return SystemError("open " + folder);
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..")
      return Error{Reason::kForbidden, "no quota can be put on " + folder + ": it holds files already (" +
                                           name +
                                           "); move them away, and copy them into the volume with a pod"};
  }
  return {};
}

// A program of e2fsprogs, to its end: tens of milliseconds.
Result<void> Run(const std::vector<std::string>& command) {
  auto child = process::Clone({}, [&command] {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {0, 1, 2}) ::dup2(nothing, fd);
    process::CloseOnExecFrom(3);
    const int error = process::ExecSearching(command, {std::string("PATH=") + kPath}, kPath);
    return error == ENOENT ? 127 : 126;
  });
  if (!child.ok()) return child.error();
  const int code = process::Reap(child.value().pidfd.get()).exit_code;
  if (code == 127)
    return Error{Reason::kUnavailable,
                 "a quota needs " + command[0] + ", which this host does not have (e2fsprogs)"};
  if (code != 0)
    return Error{Reason::kInternal,
                 command[0] + " " + command.back() + " ended with " + std::to_string(code)};
  return {};
}

Result<void> MakeFileSystem(const std::string& file, uint64_t bytes) {
  return Run({"mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-m", "0", "-b",
              bytes < kSmall ? "1024" : "4096", "-E", "lazy_itable_init=1,nodiscard,root_owner=0:0", file});
}

Result<UniqueFd> OpenFile(const runtime::Quota& quota) {
  const std::string path = FileOf(quota.folder);
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid() && errno != ENOENT) return SystemError("open " + path);
  if (!file.valid()) {
    RETURN_IF_ERROR(CheckEmpty(quota.folder));
    const std::string fresh = path + ".new";  // renamed when it is whole
    file.Reset(::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid()) return SystemError("create " + fresh);
    const auto made = ::ftruncate(file.get(), static_cast<off_t>(quota.bytes))
                          ? SystemError("resize " + fresh)
                          : MakeFileSystem(fresh, quota.bytes);
    if (made.ok() && ::rename(fresh.c_str(), path.c_str())) return SystemError("rename " + fresh);
    if (!made.ok()) {
      ::unlink(fresh.c_str());
      return made.error();
    }
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB))
    return Error{Reason::kUnavailable,
                 "the quota of " + quota.folder + " is another cluster's at the moment"};
  return file;
}

// A mount of a former supervisor may live on for a moment after its end.
bool StillAttached(const std::string& path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/block", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("loop")) continue;
    const auto backing = process::ReadFile("/sys/block/" + name + "/loop/backing_file");
    if (backing.ok() && Trim(backing.value()) == path) return true;
  }
  return false;
}

Result<UniqueFd> AttachLoop(int file, std::string& device) {
  const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!control.valid())
    return Error{Reason::kUnavailable, "a quota needs loop devices, which this host does not offer: " +
                                           SystemError("/dev/loop-control").message};
  for (int tries = 0; tries < 16; ++tries) {  // another process may take the one we were told of
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return SystemError("no loop device is free");
    device = "/dev/loop" + std::to_string(number);
    UniqueFd loop(::open(device.c_str(), O_RDWR | O_CLOEXEC));
    if (!loop.valid())
      return Error{Reason::kUnavailable, "a quota needs loop devices: " + SystemError(device).message};
    loop_config config{};
    config.fd = static_cast<__u32>(file);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(loop.get(), LOOP_CONFIGURE, &config) == 0) return loop;
    if (errno != EBUSY) return SystemError("attach " + device);
  }
  return Error{Reason::kUnavailable, "no loop device could be had"};
}

}  // namespace

QuotaDisks::~QuotaDisks() {
  while (!disks_.empty()) Drop(std::string(disks_.rbegin()->first));  // inner folders sort behind outer ones
}

void QuotaDisks::Drop(const std::string& folder) {
  const auto disk = disks_.find(folder);
  if (disk == disks_.end()) return;
  if (::umount2(folder.c_str(), 0)) ::umount2(folder.c_str(), MNT_DETACH);
  disks_.erase(disk);
}

void QuotaDisks::Leave(const std::string& folder) {
  if (const auto disk = disks_.find(folder); disk != disks_.end()) --disk->second.users;
}

Result<void> QuotaDisks::Use(const runtime::Quota& quota) {
  auto there = disks_.find(quota.folder);
  if (there != disks_.end() && quota.bytes > there->second.bytes && !GrowMounted(quota, there->second).ok() &&
      there->second.users == 0) {
    Drop(quota.folder);
    there = disks_.end();
  }
  if (there == disks_.end()) {
    if (quota.bytes < kLeastBytes)
      return Error{Reason::kInvalid, "a quota of " + std::to_string(quota.bytes) + " bytes is less than 1Mi"};
    RETURN_IF_ERROR(process::MakeFolders(quota.folder));
    Disk disk;
    RETURN_IF_ERROR(Mount(quota, disk));
    there = disks_.emplace(quota.folder, std::move(disk)).first;
  }
  ++there->second.users;
  return {};
}

Result<void> QuotaDisks::Mount(const runtime::Quota& quota, Disk& disk) {
  struct stat before {};
  if (::stat(quota.folder.c_str(), &before)) return SystemError(quota.folder);
  ASSIGN_OR_RETURN(disk.file, OpenFile(quota));
  if (StillAttached(FileOf(quota.folder)))
    return Error{Reason::kUnavailable, "the quota's file system of " + quota.folder + " is still in use"};
  struct stat size {};
  ::fstat(disk.file.get(), &size);
  disk.bytes = std::max(static_cast<uint64_t>(size.st_size), quota.bytes);
  if (disk.bytes > static_cast<uint64_t>(size.st_size)) {
    if (::ftruncate(disk.file.get(), static_cast<off_t>(disk.bytes)))
      return SystemError("resize the quota's file");
    RETURN_IF_ERROR(Run({"resize2fs", "-f", FileOf(quota.folder)}));
  }
  std::string device;
  ASSIGN_OR_RETURN(disk.loop, AttachLoop(disk.file.get(), device));
  if (::mount(device.c_str(), quota.folder.c_str(), "ext4", MS_NODEV | MS_NOSUID | MS_NOATIME,
              "discard,noinit_itable"))
    return SystemError("mount the quota's file system on " + quota.folder);
  const std::string lost = quota.folder + "/lost+found";
  if (::rmdir(lost.c_str()) == 0) {  // it is new
    ::chmod(quota.folder.c_str(), before.st_mode & 07777);
    (void)!::chown(quota.folder.c_str(), before.st_uid, before.st_gid);
  }
  return {};
}

Result<void> QuotaDisks::GrowMounted(const runtime::Quota& quota, Disk& disk) {
  if (::ftruncate(disk.file.get(), static_cast<off_t>(quota.bytes)))
    return SystemError("resize the quota's file");
  if (::ioctl(disk.loop.get(), LOOP_SET_CAPACITY)) return SystemError("resize the quota's device");
  struct statfs space {};
  const UniqueFd root(::open(quota.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid() || ::fstatfs(root.get(), &space)) return SystemError(quota.folder);
  uint64_t blocks = quota.bytes / static_cast<uint64_t>(space.f_bsize);
  if (::ioctl(root.get(), kResize, &blocks)) {
    const Error error = SystemError("resize the quota's file system");
    // The file's size tells how large the file system is, so it goes back.
    if (::ftruncate(disk.file.get(), static_cast<off_t>(disk.bytes)) == 0)
      ::ioctl(disk.loop.get(), LOOP_SET_CAPACITY);
    return error;
  }
  disk.bytes = quota.bytes;
  return {};
}

QuotaDisks::Space QuotaDisks::Measure(const std::string& folder) {
  struct statfs space {};
  if (::statfs(folder.c_str(), &space)) return {};
  const auto unit = static_cast<uint64_t>(space.f_bsize);
  return {(space.f_blocks - space.f_bfree) * unit, space.f_blocks * unit, space.f_bavail * unit < 65536};
}

}  // namespace tfemu::supervisor
