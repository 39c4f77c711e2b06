// Paths are checked here, with openat2 for what the kernel knows better; libarchive, told to be careful as
// well, writes.
#include "runtime/unpack/layer_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <filesystem>

#include "emulator/base/strings.h"
#include "runtime/unpack/image_source.h"

namespace tfemu::unpack {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNotes = 20;
constexpr std::string_view kWhiteout = ".wh.";
constexpr const char* kOpaque = "trusted.overlay.opaque";

std::string Quoted(const std::string& path) { return "\"" + path + "\""; }

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

Error Refused(const std::string& path, const std::string& why, const std::string& hint = "") {
  return {.reason = Reason::kInvalid, .message = "the entry " + Quoted(path) + " " + why, .hint = hint};
}

Error System(const std::string& what) { return {.message = what + ": " + ::strerror(errno)}; }

UniqueFd OpenFolder(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* name = path.empty() ? "." : path.c_str();
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root, name, &how, sizeof how)));
}

}  // namespace

bool CanMark(const std::string& folder) {
  const std::string probe = folder + "/.probe";
  ::unlink(probe.c_str());
  ::rmdir(probe.c_str());
  if (::mknod(probe.c_str(), S_IFCHR, ::makedev(0, 0))) return false;
  ::unlink(probe.c_str());
  if (::mkdir(probe.c_str(), 0700)) return false;
  const bool marked = ::setxattr(probe.c_str(), kOpaque, "y", 1, 0) == 0;
  ::rmdir(probe.c_str());
  return marked;
}

Result<std::unique_ptr<LayerWriter>> LayerWriter::Open(const std::string& folder,
                                                       const LayerWriterOptions& options) {
  std::unique_ptr<LayerWriter> writer(new LayerWriter());
  writer->options_ = options;
  for (const std::string& lower : options.lowers)
    writer->lowers_.emplace_back(::open(lower.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  writer->before_.Reset(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  writer->root_.Reset(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!writer->root_.valid() || ::fchdir(writer->root_.get())) return System("open " + folder);
  int flags = ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_XATTR | ARCHIVE_EXTRACT_SPARSE |
              ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
              ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS;
  if (options.owners) flags |= ARCHIVE_EXTRACT_OWNER;
  writer->disk_ = archive_write_disk_new();
  CHECK_THAT(writer->disk_);
  archive_write_disk_set_options(writer->disk_, flags);
  return writer;
}

LayerWriter::~LayerWriter() {
  if (disk_) archive_write_free(disk_);
  if (before_.valid() && ::fchdir(before_.get())) CHECK_THAT(false);
}

void LayerWriter::Note(const std::string& text) {
  if (notes_.size() < kMaxNotes) notes_.push_back(text);
}

Error LayerWriter::DiskError(const std::string& path) const {
  const char* text = archive_error_string(disk_);
  return {.reason = archive_errno(disk_) == ENOSPC ? Reason::kUnavailable : Reason::kInvalid,
          .message = "cannot write " + Quoted(path) + ": " + (text ? text : "unknown error")};
}

bool LayerWriter::IsOurs(const std::string& path) const {
  return options_.whiteouts == Whiteouts::kMarks ? !whited_.contains(path) : made_.contains(path);
}

Result<void> LayerWriter::CheckType(const std::string& path, archive_entry* entry) const {
  if (archive_entry_hardlink(entry)) return {};
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
    case AE_IFDIR:
    case AE_IFLNK:
    case AE_IFIFO: return {};
    case AE_IFCHR:
    case AE_IFBLK:
      return Refused(path, "is a device node; images must have none",
                     "a pod's /dev is made afresh; take it out: tar --delete -f FILE " + path);
    default: return Refused(path, "has a type that no image needs");
  }
}

Result<void> LayerWriter::Add(archive_entry* entry, ArchiveReader& data) {
  const std::string raw = archive_entry_pathname(entry);
  if (raw.starts_with('/')) return Refused(raw, "has an absolute path");
  const auto cleaned = CleanPath(raw);
  if (!cleaned) return Refused(raw, "leads out of the image with \"..\"");
  const std::string& path = *cleaned;
  RETURN_IF_ERROR(CheckType(raw, entry));
  if (path.empty()) return AddRoot(entry);
  RETURN_IF_ERROR(MakeParents(path));
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.starts_with(kWhiteout)) return AddWhiteout(path, name);
  RETURN_IF_ERROR(CheckHardLink(path, entry));
  const bool folder = !archive_entry_hardlink(entry) && archive_entry_filetype(entry) == AE_IFDIR;
  RETURN_IF_ERROR(MakeRoom(path, folder));
  RETURN_IF_ERROR(Write(path, entry, data));
  if (options_.whiteouts == Whiteouts::kRemoves) made_.insert(path);
  // A folder that replaces a removed one must not show what that one held.
  if (whited_.erase(path) && folder) return MarkOpaque(path);
  return {};
}

Result<void> LayerWriter::AddRoot(archive_entry* entry) {
  if (archive_entry_hardlink(entry) || archive_entry_filetype(entry) != AE_IFDIR)
    return Refused(archive_entry_pathname(entry), "replaces the root by something that is no folder");
  if (options_.owners && ::fchown(root_.get(), static_cast<uid_t>(archive_entry_uid(entry)),
                                  static_cast<gid_t>(archive_entry_gid(entry))))
    return System("chown of the root");
  if (::fchmod(root_.get(), archive_entry_perm(entry) & 07777)) return System("chmod of the root");
  return {};
}

Result<void> LayerWriter::MakeParents(const std::string& path) {
  const std::string parent = ParentOf(path);
  if (parent == last_parent_ || parent.empty()) return {};
  parent_ = OpenFolder(root_.get(), parent);
  if (!parent_.valid()) {
    if (errno == ENAMETOOLONG) return Refused(path, "has a path that is too long");
    current_ = path;
    std::string so_far;
    for (const auto& part : Split(parent, '/')) {
      so_far += (so_far.empty() ? "" : "/") + part;
      RETURN_IF_ERROR(MakeParent(so_far));
    }
    parent_ = OpenFolder(root_.get(), parent);
    if (!parent_.valid()) return System("open " + parent);
  }
  last_parent_ = parent;
  return {};
}

// All that is above it is a true folder.
Result<void> LayerWriter::MakeParent(const std::string& folder) {
  struct stat status {};
  const bool there = ::fstatat(root_.get(), folder.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && S_ISDIR(status.st_mode)) return {};
  if (there && IsOurs(folder)) {
    return Refused(current_, std::string("would be written through ") +
                                 (S_ISLNK(status.st_mode) ? "the symbolic link " : "the file ") +
                                 Quoted(folder) + ", which the same archive has made");
  }
  if (there && ::unlinkat(root_.get(), folder.c_str(), 0)) return System("remove " + folder);
  if (::mkdirat(root_.get(), folder.c_str(), 0755)) return System("mkdir " + folder);
  if (options_.whiteouts == Whiteouts::kRemoves) made_.insert(folder);
  if (whited_.erase(folder)) return MarkOpaque(folder);
  return TakeAfterLowers(folder);
}

// overlayfs shows the attributes of the highest layer's folder.
Result<void> LayerWriter::TakeAfterLowers(const std::string& folder) {
  for (const UniqueFd& lower : lowers_) {
    const UniqueFd there = OpenFolder(lower.get(), folder);
    struct stat status {};
    if (!there.valid() || ::fstatat(there.get(), "", &status, AT_EMPTY_PATH)) continue;
    if (options_.owners &&
        ::fchownat(root_.get(), folder.c_str(), status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW))
      return System("chown " + folder);
    if (::fchmodat(root_.get(), folder.c_str(), status.st_mode & 07777, 0)) return System("chmod " + folder);
    return {};
  }
  return {};
}

// A later entry replaces an earlier one of its name, as with tar; folders are merged.
Result<void> LayerWriter::MakeRoom(const std::string& path, bool folder) {
  struct stat status {};
  if (::fstatat(root_.get(), path.c_str(), &status, AT_SYMLINK_NOFOLLOW)) {
    return errno == ENOENT ? Result<void>() : System("look at " + path);
  }
  if (S_ISDIR(status.st_mode) && folder) return {};
  last_parent_.clear();
  std::error_code error;
  fs::remove_all(path, error);  // relative to the folder we stand in, and below checked folders
  if (error) return Error{.message = "cannot replace " + Quoted(path) + ": " + error.message()};
  return {};
}

Result<void> LayerWriter::AddWhiteout(const std::string& path, const std::string& name) {
  const std::string parent = ParentOf(path);
  if (name == ".wh..wh..opq") return MarkOpaque(parent);
  if (name.starts_with(".wh..wh.")) return {};  // aufs' own bookkeeping
  const std::string victim_name = name.substr(kWhiteout.size());
  if (victim_name.empty() || victim_name == "." || victim_name == "..")
    return Refused(path, "is no whiteout of a name");
  const std::string victim = parent.empty() ? victim_name : parent + "/" + victim_name;
  struct stat status {};
  const bool there = ::fstatat(root_.get(), victim.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (options_.whiteouts == Whiteouts::kRemoves) {
    if (made_.contains(victim)) return S_ISDIR(status.st_mode) ? MarkOpaque(victim) : Result<void>();
    return there ? MakeRoom(victim, false) : Result<void>();
  }
  // A whiteout is of the layers below, never of what this layer brings itself.
  if (there) return S_ISDIR(status.st_mode) ? MarkOpaque(victim) : Result<void>();
  if (::mknodat(root_.get(), victim.c_str(), S_IFCHR, ::makedev(0, 0)))
    return System("make a whiteout of " + victim);
  whited_.insert(victim);
  return {};
}

Result<void> LayerWriter::MarkOpaque(const std::string& folder) {
  if (options_.whiteouts == Whiteouts::kMarks) {
    const char* name = folder.empty() ? "." : folder.c_str();  // we stand in the root
    if (::lsetxattr(name, kOpaque, "y", 1, 0)) return System("mark " + folder + " opaque");
    return {};
  }
  std::error_code error;
  std::vector<std::string> doomed;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename();
    const std::string path = folder.empty() ? name : folder + "/" + name;
    if (!made_.contains(path)) doomed.push_back(path);
    else if (entry.is_directory() && !entry.is_symlink()) RETURN_IF_ERROR(MarkOpaque(path));
  }
  for (const std::string& path : doomed) RETURN_IF_ERROR(MakeRoom(path, false));
  return {};
}

Result<void> LayerWriter::CheckHardLink(const std::string& path, archive_entry* entry) {
  const char* raw = archive_entry_hardlink(entry);
  if (!raw) return {};
  if (*raw == '/') return Refused(path, "is a hard link to the absolute path " + Quoted(raw));
  const auto target = CleanPath(raw);
  if (!target || target->empty()) return Refused(path, "is a hard link out of the image, to " + Quoted(raw));
  const std::string parent = ParentOf(*target);
  if (!OpenFolder(root_.get(), parent).valid() && errno != ENOENT)
    return Refused(path, "is a hard link through a symbolic link, to " + Quoted(raw));
  struct stat status {};
  if (::fstatat(root_.get(), target->c_str(), &status, AT_SYMLINK_NOFOLLOW) || whited_.contains(*target))
    return Refused(path, "is a hard link to " + Quoted(raw) + ", which does not come before it");
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
    return Refused(path, "is a hard link to " + Quoted(raw) + ", which is no file");
  if (*target == path) return Refused(path, "is a hard link to itself");
  archive_entry_set_hardlink(entry, target->c_str());
  archive_entry_unset_size(entry);
  return {};
}

// overlayfs' own attributes would let a layer rewrite the ones below it; labels are of another host.
void LayerWriter::KeepSaneAttributes(const std::string& path, archive_entry* entry) {
  struct Attribute {
    std::string name, value;
  };
  std::vector<Attribute> kept;
  archive_entry_xattr_reset(entry);
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  while (archive_entry_xattr_next(entry, &name, &value, &size) == ARCHIVE_OK) {
    const std::string text = name;
    const bool capability = text == "security.capability" && options_.owners;
    if (text.starts_with("user.") || capability)
      kept.push_back({text, std::string(static_cast<const char*>(value), size)});
    else Note(path + ": the attribute " + text + " is left out");
  }
  archive_entry_xattr_clear(entry);
  for (const auto& one : kept)
    archive_entry_xattr_add_entry(entry, one.name.c_str(), one.value.data(), one.value.size());
  archive_entry_set_fflags(entry, 0, 0);
}

Result<void> LayerWriter::Write(const std::string& path, archive_entry* entry, ArchiveReader& data) {
  KeepSaneAttributes(path, entry);
  // libarchive looks at each part of a path again; from the parent, that is one. A folder's mode and time are
  // set when all is written, so its whole path is needed, and a hard link has two paths.
  const bool whole = archive_entry_hardlink(entry) || archive_entry_filetype(entry) == AE_IFDIR;
  const std::string parent = ParentOf(path);
  if (whole || parent.empty()) {
    archive_entry_set_pathname(entry, path.c_str());
    return WriteHere(path, entry, data);
  }
  archive_entry_set_pathname(entry, path.substr(parent.size() + 1).c_str());
  if (::fchdir(parent_.get())) return System("chdir " + parent);
  auto written = WriteHere(path, entry, data);
  if (::fchdir(root_.get())) return System("chdir");
  return written;
}

Result<void> LayerWriter::WriteHere(const std::string& path, archive_entry* entry, ArchiveReader& data) {
  const bool file = !archive_entry_hardlink(entry) && archive_entry_filetype(entry) == AE_IFREG;
  const int header = archive_write_header(disk_, entry);
  if (header != ARCHIVE_OK && !(header == ARCHIVE_WARN && !options_.owners)) return DiskError(path);
  if (file) {
    const auto written = WriteData(data);
    if (!written.ok()) return written;
  }
  const int finished = archive_write_finish_entry(disk_);
  if (finished == ARCHIVE_OK) return {};
  if (finished == ARCHIVE_WARN && (archive_errno(disk_) == EOPNOTSUPP || !options_.owners)) {
    Note(DiskError(path).message);
    return {};
  }
  return DiskError(path);
}

Result<void> LayerWriter::WriteData(ArchiveReader& data) {
  for (;;) {
    ASSIGN_OR_RETURN(const ArchiveReader::Block block, data.ReadBlock());
    if (!block.bytes) return {};
    if (archive_write_data_block(disk_, block.bytes, block.size, block.offset) < ARCHIVE_OK)
      return DiskError("its data");
  }
}

Result<void> LayerWriter::Finish() {
  const int closed = archive_write_close(disk_);
  if (closed != ARCHIVE_OK && !(closed == ARCHIVE_WARN && !options_.owners)) return DiskError("folders");
  return {};
}

}  // namespace tfemu::unpack
