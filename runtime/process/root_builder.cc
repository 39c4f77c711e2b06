#include "runtime/process/root_builder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <algorithm>
#include <memory>

#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

using Type = MountStep::Type;

constexpr size_t kMostOptions = 3500;

// lowerdir= separates by ':' and options by ','.
std::string Escape(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == ':' || c == ',' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

bool IsFolder(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

class Builder {
 public:
  explicit Builder(std::string stage) : stage_(std::move(stage)) {}

  Result<void> Prepare() {
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
      return SystemError("make mounts private");
    if (::mount("root", stage_.c_str(), "tmpfs", 0, "mode=0755")) return SystemError("mount tmpfs");
    const std::string root = stage_ + "/root";
    if (::mkdir(root.c_str(), 0755)) return SystemError("mkdir root");
    if (::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr)) return SystemError("bind root");
    return OpenRoot();
  }

  Result<void> Apply(const MountStep& step) {
    switch (step.type) {
      case Type::kFolder: return Folder(step);
      case Type::kSymlink: return Symlink(step);
      case Type::kFile: return File(step);
      case Type::kDevice: return Device(step);
      case Type::kBind: return Bind(step);
      case Type::kOverlay: return Overlay(step);
      case Type::kReadOnlySelf: return ReadOnlySelf(step);
      case Type::kReadOnlyMount: return ReadOnlyMount(step);
      case Type::kFileSystem: return FileSystem(step);
    }
    CHECK_THAT(false);
    return {};
  }

  Result<void> Enter() {
    if (::fchdir(root_.get())) return SystemError("chdir root");
    if (::syscall(SYS_pivot_root, ".", ".")) return SystemError("pivot_root");
    if (::umount2(".", MNT_DETACH)) return SystemError("detach the old root");
    if (::chdir("/")) return SystemError("chdir /");
    return {};
  }

 private:
  Result<void> OpenRoot() {
    root_.Reset(::open((stage_ + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root_.valid()) return SystemError("open root");
    return {};
  }

  // Steps come in runs with the same parent, so the last one is kept.
  Result<int> Parent(const std::string& target) {
    const size_t slash = target.find_last_of('/');
    if (slash == std::string::npos) return root_.get();
    const std::string path = target.substr(0, slash);
    if (!parent_.valid() || parent_path_ != path) {
      ASSIGN_OR_RETURN(parent_, OpenBelow(root_.get(), path, true));
      parent_path_ = path;
    }
    return parent_.get();
  }
  // What was there may be covered by a mount now.
  void ForgetParent() { parent_.Reset(); }
  static std::string Name(const std::string& target) { return target.substr(target.find_last_of('/') + 1); }

  Result<void> Folder(const MountStep& step) {
    ASSIGN_OR_RETURN(const int parent, Parent(step.target));
    const std::string name = Name(step.target);
    if (::mkdirat(parent, name.c_str(), step.mode))
      return errno == EEXIST ? Result<void>() : SystemError("mkdir /" + step.target);
    return {};
  }

  Result<void> Symlink(const MountStep& step) {
    ASSIGN_OR_RETURN(const int parent, Parent(step.target));
    if (::symlinkat(step.source.c_str(), parent, Name(step.target).c_str()) && errno != EEXIST)
      return SystemError("symlink /" + step.target);
    return {};
  }

  Result<void> File(const MountStep& step) {
    ASSIGN_OR_RETURN(const int parent, Parent(step.target));
    const std::string name = Name(step.target);
    ::unlinkat(parent, name.c_str(), 0);
    if (::fchdir(parent)) return SystemError("chdir for /" + step.target);
    return CreateFile(name, step.content, step.mode);
  }

  Result<void> Device(const MountStep& step) {
    ASSIGN_OR_RETURN(const int parent, Parent(step.target));
    if (::mknodat(parent, Name(step.target).c_str(), S_IFCHR | step.mode,
                  ::makedev(step.major, step.minor)) &&
        errno != EEXIST)
      return SystemError("mknod /" + step.target);
    return {};
  }

  Result<void> Attach(int tree, int target, const MountStep& step) {
    ForgetParent();
    if (::move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
      return SystemError("mount on /" + step.target);
    return {};
  }

  Result<void> MakeReadOnly(int tree, const MountStep& step, unsigned reach = AT_RECURSIVE) {
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (::mount_setattr(tree, "", AT_EMPTY_PATH | reach, &attributes, sizeof attributes))
      return SystemError("make /" + step.target + " read-only");
    return {};
  }

  Result<void> Bind(const MountStep& step) {
    UniqueFd source(::open(step.source.c_str(), O_PATH | O_CLOEXEC));
    if (!source.valid()) return SystemError(step.source);
    if (!step.sub_path.empty()) {
      auto below = OpenSubPath(source.get(), step.sub_path);
      if (!below.ok())
        return Error{below.error().reason, "failed to prepare subPath \"" + step.sub_path +
                                               "\" for volumeMount on /" + step.target + ": " +
                                               below.error().message};
      source = std::move(below).value();
    }
    const UniqueFd tree(
        ::open_tree(source.get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE));
    if (!tree.valid()) return SystemError("clone " + step.source);
    if (step.read_only) RETURN_IF_ERROR(MakeReadOnly(tree.get(), step));
    ASSIGN_OR_RETURN(const UniqueFd target, OpenBelow(root_.get(), step.target, IsFolder(source.get())));
    return Attach(tree.get(), target.get(), step);
  }

  Result<void> ReadOnlySelf(const MountStep& step) {
    const UniqueFd target(::openat(root_.get(), step.target.c_str(), O_PATH | O_CLOEXEC));
    if (!target.valid()) return {};  // not every kernel has it
    const UniqueFd tree(::open_tree(target.get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
    if (!tree.valid()) return SystemError("clone /" + step.target);
    RETURN_IF_ERROR(MakeReadOnly(tree.get(), step));
    return Attach(tree.get(), target.get(), step);
  }

  Result<void> ReadOnlyMount(const MountStep& step) {
    const char* target = step.target.empty() ? "." : step.target.c_str();
    const UniqueFd mounted(::openat(root_.get(), target, O_PATH | O_CLOEXEC));
    if (!mounted.valid()) return SystemError("open /" + step.target);
    return MakeReadOnly(mounted.get(), step, 0);
  }

  Result<void> FileSystem(const MountStep& step) {
    ASSIGN_OR_RETURN(const UniqueFd target, OpenBelow(root_.get(), step.target, true));
    if (::fchdir(target.get())) return SystemError("chdir /" + step.target);
    const unsigned long flags = MS_NOSUID | MS_NOEXEC | (step.read_only ? MS_RDONLY | MS_NODEV : 0ul);
    ForgetParent();
    if (::mount(step.source.c_str(), ".", step.source.c_str(), flags, step.content.c_str()))
      return SystemError("mount " + step.source + " on /" + step.target);
    return {};
  }

  Result<void> FillUpper(const MountStep& step, const std::string& upper) {
    struct stat status {};
    if (::stat(step.lowers.front().c_str(), &status) == 0) ::chmod(upper.c_str(), status.st_mode & 07777);
    for (const auto& file : step.files) {
      if (file.path.find('/') != std::string::npos)
        RETURN_IF_ERROR(MakeFolders(ParentFolder(upper + "/" + file.path)));
      RETURN_IF_ERROR(CreateFile(upper + "/" + file.path, file.content, file.mode));
    }
    for (const auto& folder : step.hidden) {
      const std::string path = upper + "/" + folder;
      ::mkdir(path.c_str(), 0755);
      ::chmod(path.c_str(), 01777);
      ::setxattr(path.c_str(), "trusted.overlay.opaque", "y", 1, 0);
    }
    return {};
  }

  Result<void> Overlay(const MountStep& step) {
    const std::string base = stage_ + "/" + std::to_string(++overlays_), upper = base + "/u",
                      work = base + "/w";
    for (const auto& folder : {base, upper, work})
      if (::mkdir(folder.c_str(), 0755)) return SystemError("mkdir " + folder);
    RETURN_IF_ERROR(FillUpper(step, upper));
    ASSIGN_OR_RETURN(const UniqueFd target, OpenBelow(root_.get(), step.target, true));
    ForgetParent();
    RETURN_IF_ERROR(MountOverlay(step, "upperdir=" + Escape(upper) + ",workdir=" + Escape(work), target));
    return step.target.empty() ? OpenRoot() : Result<void>();
  }

  Result<void> MountOverlay(const MountStep& step, const std::string& writable, const UniqueFd& target) {
    std::string options = writable + ",lowerdir=";
    for (const auto& lower : step.lowers)
      options += (&lower == &step.lowers.front() ? "" : ":") + Escape(lower);
    std::vector<UniqueFd> folders;
    // The kernel takes one page of options: many layers are named by descriptors, four characters each.
    if (options.size() > kMostOptions) {
      options = writable + ",lowerdir=";
      for (const auto& lower : step.lowers) {
        folders.emplace_back(::open(lower.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!folders.back().valid()) return SystemError(lower);
        options += (folders.size() == 1 ? "" : ":") + std::to_string(folders.back().get());
      }
      if (::chdir("/proc/self/fd")) return SystemError("chdir /proc/self/fd");
    }
    const std::string place = "/proc/self/fd/" + std::to_string(target.get());
    if (::mount("overlay", place.c_str(), "overlay", MS_NODEV, options.c_str()))
      return SystemError("overlay on /" + step.target + " (" + options + ")");
    return {};
  }

  std::string stage_;
  UniqueFd root_, parent_;
  std::string parent_path_;
  int overlays_ = 0;
};

}  // namespace

Result<void> BuildRoot(const std::string& stage, const std::vector<MountStep>& steps) {
  Builder builder(stage);
  const mode_t mask = ::umask(0);  // the plan says which modes
  RETURN_IF_ERROR(builder.Prepare());
  for (const auto& step : steps) RETURN_IF_ERROR(builder.Apply(step));
  ::umask(mask);
  return builder.Enter();
}

std::vector<HostEntry> KernelHostView::List(const std::string& folder) const {
  std::vector<HostEntry> entries;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = directory ? ::readdir(directory.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    unsigned char type = entry->d_type;
    struct stat status {};
    if (type == DT_UNKNOWN &&
        ::fstatat(::dirfd(directory.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      type = IFTODT(status.st_mode);
    HostEntry out{name, HostEntry::Type::kFile, ""};
    if (type == DT_DIR) out.type = HostEntry::Type::kFolder;
    if (type == DT_LNK) {
      char text[4096];
      const ssize_t size = ::readlinkat(::dirfd(directory.get()), name.c_str(), text, sizeof text);
      out.type = HostEntry::Type::kSymlink;
      out.link.assign(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
    }
    entries.push_back(std::move(out));
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

bool KernelHostView::Exists(const std::string& path) const { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace tfemu::process
