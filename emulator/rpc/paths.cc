#include "emulator/rpc/paths.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "emulator/base/rng.h"

namespace tfemu::rpc {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

Error Refused(const fs::path& folder, int error) {
  return Error{error == EACCES || error == EPERM ? Reason::kForbidden : Reason::kUnavailable,
               "cannot make the folder " + folder.string() + ": " + std::strerror(error),
               "choose another with TFEMU_HOME"};
}

// One that is there already may be shared (such as /tmp) and is left as it is.
Result<void> MakeHome(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return Refused(folder, errno);
  if (!fs::is_directory(folder, error)) return Refused(folder, ENOTDIR);
  return {};
}

// A folder of ours alone, and no link to elsewhere.
Result<void> MakePrivate(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return Refused(folder, errno);
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
    return Error{Reason::kForbidden, folder.string() + " is not a folder of yours",
                 "remove it or choose another with TFEMU_HOME"};
  if ((info.st_mode & 077) != 0) ::chmod(folder.c_str(), 0700);
  return {};
}

ClusterPaths Named(const std::string& home, const std::string& name) {
  const std::string state = home + "/" + name;
  return {state, state + "/socket", state + "/daemon.log"};
}

std::string ShortFolder(const Environment& environment) {
  const std::string runtime = environment("XDG_RUNTIME_DIR");
  if (!runtime.empty() && runtime.size() < 60) return runtime + "/tfemu";
  return "/tmp/tfemu-" + std::to_string(::geteuid());
}

}  // namespace

Result<std::string> HomeFolder(const Environment& environment) {
  std::string home = environment("TFEMU_HOME");
  if (home.empty() && !environment("XDG_STATE_HOME").empty()) home = environment("XDG_STATE_HOME") + "/tfemu";
  if (home.empty() && !environment("HOME").empty()) home = environment("HOME") + "/.local/state/tfemu";
  if (home.empty())
    return Error{Reason::kBadRequest, "no folder for the state: HOME is not set", "set TFEMU_HOME"};
  home = fs::absolute(home).lexically_normal().string();
  while (home.size() > 1 && home.back() == '/') home.pop_back();
  return home;
}

Result<void> CheckClusterName(const std::string& name) {
  const bool fits =
      !name.empty() && name.size() <= 32 && name.front() != '-' &&
      std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
  if (fits && name != "images" && name != "cache") return {};
  return Error{Reason::kBadRequest, "not a cluster name: \"" + name + "\"",
               "use up to 32 letters, digits, '-' and '_' (\"images\" and \"cache\" are taken)"};
}

Result<ClusterPaths> MakeClusterPaths(const std::string& home, const std::string& name,
                                      const Environment& environment) {
  RETURN_IF_ERROR(CheckClusterName(name));
  auto paths = Named(home, name);
  RETURN_IF_ERROR(MakeHome(home));
  RETURN_IF_ERROR(MakePrivate(paths.state));
  if (paths.socket.size() <= kMaxSocketPath) return paths;
  const std::string folder = ShortFolder(environment);
  RETURN_IF_ERROR(MakePrivate(folder));
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(Fnv1a(paths.state)));
  const std::string link = std::exchange(paths.socket, folder + "/" + hash + ".sock");
  std::error_code error;
  fs::remove(link, error);
  fs::create_symlink(paths.socket, link, error);
  if (error) return Error{Reason::kUnavailable, "cannot make " + link + ": " + error.message()};
  return paths;
}

ClusterPaths FindClusterPaths(const std::string& home, const std::string& name) {
  auto paths = Named(home, name);
  std::error_code error;
  if (paths.socket.size() <= kMaxSocketPath) return paths;
  const fs::path target = fs::read_symlink(paths.socket, error);
  if (!error) paths.socket = target.string();
  return paths;
}

}  // namespace tfemu::rpc
