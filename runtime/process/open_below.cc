// Paths below a root that is not ours yet, through openat2.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "emulator/base/strings.h"
#include "runtime/process/root_builder.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

int OpenRooted(int root, const std::string& path, uint64_t resolve) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how));
}

Result<void> MakeEntry(int parent, const std::string& name, bool folder) {
  if (folder) {
    if (::mkdirat(parent, name.c_str(), 0755) == 0 || errno == EEXIST) return {};
    return SystemError("mkdir " + name);
  }
  const UniqueFd file(::openat(parent, name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
  if (file.valid() || errno == EEXIST) return {};
  return SystemError("create " + name);
}

Result<UniqueFd> OpenMaking(int root, const std::string& path, bool folder, uint64_t resolve) {
  UniqueFd whole(OpenRooted(root, path, resolve));
  if (whole.valid()) return whole;
  if (errno != ENOENT) return SystemError("/" + path);
  std::string so_far;
  UniqueFd parent(OpenRooted(root, "", resolve));
  const auto parts = Split(path, '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    so_far += (i ? "/" : "") + parts[i];
    UniqueFd next(OpenRooted(root, so_far, resolve));
    if (!next.valid() && errno == ENOENT) {
      const auto made = MakeEntry(parent.get(), parts[i], folder || i + 1 < parts.size());
      if (!made.ok()) return Error{made.error().reason, "/" + path + ": " + made.error().message};
      next.Reset(OpenRooted(root, so_far, resolve));
    }
    if (!next.valid()) return SystemError("/" + so_far);
    parent = std::move(next);
  }
  return parent;
}

}  // namespace

Result<UniqueFd> OpenBelow(int root, const std::string& path, bool folder) {
  return OpenMaking(root, path, folder, RESOLVE_IN_ROOT);
}

Result<UniqueFd> OpenSubPath(int volume, const std::string& path) {
  UniqueFd there(OpenRooted(volume, path, RESOLVE_BENEATH));
  if (there.valid()) return there;
  if (errno == EXDEV || errno == ELOOP)
    return Error{Reason::kForbidden, "a symbolic link on its way leads out of the volume"};
  if (errno != ENOENT) return SystemError("/" + path);
  auto made = OpenMaking(volume, path, true, RESOLVE_BENEATH);
  if (!made.ok() && errno == EXDEV)
    return Error{Reason::kForbidden, "a symbolic link on its way leads out of the volume"};
  return made;
}

}  // namespace tfemu::process
