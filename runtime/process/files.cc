#include "runtime/process/files.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include <cstdio>

#include "emulator/base/unique_fd.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

Result<void> WriteAll(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return SystemError("write " + path);
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

int RemoveEntry(const char* path, const struct stat*, int, struct FTW*) {
  ::remove(path);
  return 0;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("open " + path);
  std::string text;
  for (char buffer[4096];;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read " + path);
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

Result<void> WriteFile(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("open " + path);
  if (::write(fd.get(), text.data(), text.size()) < 0) return SystemError("write " + path);
  return {};
}

Result<void> CreateFile(const std::string& path, std::string_view text, unsigned mode) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!fd.valid()) return SystemError("create " + path);
  ::fchmod(fd.get(), mode);
  return WriteAll(fd.get(), text, path);
}

std::string ParentFolder(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<void> MakeFolders(const std::string& path, unsigned mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT || path == "/" || path == ".") return SystemError("mkdir " + path);
  RETURN_IF_ERROR(MakeFolders(ParentFolder(path), mode));
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return SystemError("mkdir " + path);
}

void RemoveTree(const std::string& path) {
  ::nftw(path.c_str(), RemoveEntry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

}  // namespace tfemu::process
