#include "runtime/supervisor/volume_ownership.h"

#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "runtime/process/system_error.h"

namespace tfemu::supervisor {
namespace {

constexpr mode_t kReadWrite = 0660, kReadOnly = 0440, kSearch = 0110;

mode_t Wanted(const struct stat& status, bool read_only) {
  const mode_t mode = status.st_mode & 07777;
  const mode_t bits = read_only ? kReadOnly : kReadWrite;
  return S_ISDIR(status.st_mode) ? mode | bits | kSearch | S_ISGID : mode | bits;
}

}  // namespace

Result<void> GiveToGroup(const runtime::Volume& volume, const std::string& path) {
  const auto group = static_cast<gid_t>(*volume.group);
  const bool read_only = volume.read_only || volume.type == runtime::Volume::Type::kFiles;
  struct stat root {};
  if (::lstat(path.c_str(), &root)) return process::SystemError(path);
  if (volume.group_only_on_mismatch && root.st_gid == group &&
      (root.st_mode & 07777) == Wanted(root, read_only))
    return {};
  std::string start = path;
  char* const roots[] = {start.data(), nullptr};
  const std::unique_ptr<FTS, int (*)(FTS*)> tree(
      ::fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr), ::fts_close);
  if (!tree) return process::SystemError(path);
  while (const FTSENT* entry = ::fts_read(tree.get())) {
    if (entry->fts_info == FTS_D || entry->fts_info == FTS_NS) continue;  // folders on the way back
    if (::lchown(entry->fts_accpath, static_cast<uid_t>(-1), group) && errno != ENOENT)
      return process::SystemError("chown " + std::string(entry->fts_path));
    if (S_ISLNK(entry->fts_statp->st_mode)) continue;
    if (::chmod(entry->fts_accpath, Wanted(*entry->fts_statp, read_only)) && errno != ENOENT)
      return process::SystemError("chmod " + std::string(entry->fts_path));
  }
  return {};
}

}  // namespace tfemu::supervisor
