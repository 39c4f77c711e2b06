// What layers show when they lie on each other, and which programs in them would start.
#include "runtime/image/layered_view.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "runtime/image/archive_record.h"
#include "runtime/image/layer_store.h"
#include "runtime/image/program_check.h"
#include "temporary_folder.h"

namespace tfemu::image {
namespace {

namespace fs = std::filesystem;

TEST_CASE("the highest layer wins, and links are followed in the image") {
  TemporaryFolder folder;
  const std::string low = folder.path() + "/low", high = folder.path() + "/high";
  folder.Write("low/etc/a", "low");
  folder.Write("low/etc/b", "only low");
  folder.Write("high/etc/a", "high");
  fs::create_symlink("/etc/a", high + "/absolute");
  fs::create_symlink("../../../etc/b", high + "/etc/up");
  fs::create_symlink("loop", high + "/loop");
  fs::create_directory_symlink("etc", high + "/folder");
  const LayeredView view({low, high});
  CHECK(view.Read("/etc/a") == "high");
  CHECK(view.Read("etc/b") == "only low");
  CHECK(view.Read("/absolute") == "high");
  CHECK(view.Read("/etc/up") == "only low");
  CHECK(view.Read("/folder/b") == "only low");
  CHECK_FALSE(view.Find("/loop"));
  CHECK_FALSE(view.Find("/etc/none"));
  CHECK(view.Find("/") == high);
}

TEST_CASE("whiteouts and opaque folders hide what is below") {
  if (geteuid() != 0) return;  // only root can make them
  TemporaryFolder folder;
  const std::string high = folder.path() + "/high";
  for (const char* name : {"low/d/a", "low/o/a", "low/f/a", "high/d/x", "high/o/x"}) folder.Write(name, "1");
  folder.Write("high/f", "a file where a folder was");
  REQUIRE(mknod((high + "/d/a").c_str(), S_IFCHR, makedev(0, 0)) == 0);
  REQUIRE(setxattr((high + "/o").c_str(), "trusted.overlay.opaque", "y", 1, 0) == 0);
  const LayeredView view({folder.path() + "/low", high});
  CHECK_FALSE(view.Find("/d/a"));
  CHECK_FALSE(view.Find("/o/a"));
  CHECK_FALSE(view.Find("/f/a"));
  CHECK(view.Find("/o/x"));
}

TEST_CASE("a program that would not start is known") {
  TemporaryFolder folder;
  const LayeredView view({"/"});
  CHECK(CheckProgram(view, "sh", "/nowhere:/bin").ok());
  CHECK(CheckProgram(view, "/bin/sh", "").ok());
  CHECK_FALSE(CheckProgram(view, "no-such-program", "/bin").ok());
  // A dynamic program in an image without its loader.
  fs::copy_file(fs::canonical("/bin/sh"), folder.path() + "/sh");
  const auto alone = CheckProgram(LayeredView({folder.path()}), "/sh", "");
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().message.find("its loader /lib") != std::string::npos);
}

TEST_CASE("the store keeps what records name and what somebody holds") {
  TemporaryFolder folder;
  const std::string archive = folder.Write("a.tar", "1");
  for (const char* name : {"named", "unnamed"}) folder.Write(std::string("layers/") + name + "/fs/x", "1");
  ArchiveRecord record{.source = archive, .folders = {"named"}};
  const std::string key = ArchiveKey(archive, "");
  folder.Write("roots/" + key + ".json", ToJson(record));
  CHECK(LoadRecord(folder.path(), key).has_value());
  CHECK(PruneStore(folder.path(), {}, true).value().layers == 1);
  CHECK(PruneStore(folder.path(), {}, false).value().layers == 1);
  CHECK(fs::exists(folder.path() + "/layers/named/fs/x"));
  folder.Write("a.tar", "changed");
  const Pruned pruned = PruneStore(folder.path(), {}, false).value();
  CHECK(pruned.records == 1);
  CHECK(pruned.layers == 1);
  CHECK_FALSE(LoadRecord(folder.path(), key).has_value());
  CHECK_FALSE(fs::exists(folder.path() + "/layers/named"));
}

}  // namespace
}  // namespace tfemu::image
