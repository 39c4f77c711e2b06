// Where clusters live.
#include "emulator/rpc/paths.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>

namespace tfemu::rpc {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    char name[] = "/tmp/tfemu-paths-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

Environment Fixed(std::map<std::string, std::string> values) {
  return [values](const std::string& name) { return values.contains(name) ? values.at(name) : ""; };
}

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  return info.st_mode & 0777;
}

TEST_CASE("the home folder") {
  CHECK(HomeFolder(Fixed({{"TFEMU_HOME", "/x/y/"}, {"HOME", "/h"}})).value() == "/x/y");
  CHECK(HomeFolder(Fixed({{"XDG_STATE_HOME", "/s"}, {"HOME", "/h"}})).value() == "/s/tfemu");
  CHECK(HomeFolder(Fixed({{"HOME", "/h"}})).value() == "/h/.local/state/tfemu");
  CHECK(!HomeFolder(Fixed({})).ok());
}

TEST_CASE("cluster names") {
  for (const char* good : {"default", "run-123", "A_b"}) CHECK(CheckClusterName(good).ok());
  for (const char* bad : {"", "a/b", "..", "-x", "images", "a b", "ääää"}) {
    CAPTURE(bad);
    CHECK(!CheckClusterName(bad).ok());
  }
  CHECK(!CheckClusterName(std::string(33, 'a')).ok());
}

TEST_CASE("folders are private, and a socket fits its address") {
  const Folder folder;
  const std::string home = folder.path + "/home";
  const auto paths = MakeClusterPaths(home, "c", Fixed({}));
  REQUIRE(paths.ok());
  CHECK(paths.value().socket == home + "/c/socket");
  CHECK(ModeOf(home) == 0700);
  CHECK(ModeOf(home + "/c") == 0700);
  CHECK(FindClusterPaths(home, "c").socket == paths.value().socket);

  const std::string deep = folder.path + "/" + std::string(90, 'd');
  const auto far = MakeClusterPaths(deep, "c", Fixed({{"XDG_RUNTIME_DIR", folder.path}}));
  REQUIRE(far.ok());
  CHECK(far.value().socket.size() < 108);
  CHECK(far.value().socket.starts_with(folder.path + "/tfemu/"));
  CHECK(FindClusterPaths(deep, "c").socket == far.value().socket);
  const auto again = MakeClusterPaths(deep, "c", Fixed({{"XDG_RUNTIME_DIR", folder.path}}));
  REQUIRE(again.ok());
  CHECK(again.value().socket == far.value().socket);
}

TEST_CASE("a link in the state's place is refused, a shared home left as it is") {
  const Folder folder;
  ::chmod(folder.path.c_str(), 0755);
  fs::create_symlink("/tmp", folder.path + "/link");
  CHECK(!MakeClusterPaths(folder.path, "link", Fixed({})).ok());
  CHECK(MakeClusterPaths(folder.path, "c", Fixed({})).ok());
  CHECK(ModeOf(folder.path) == 0755);
}

}  // namespace
}  // namespace tfemu::rpc
