// What the cgroup drivers write, on a folder that only looks like a cgroup file system.
#include "runtime/process/cgroup.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/process/files.h"

namespace tfemu::process {
namespace {

class FakeCgroups {
 public:
  FakeCgroups() {
    char name[] = "/tmp/tfemu-unit-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~FakeCgroups() { RemoveTree(path_); }
  const std::string& path() const { return path_; }

  // The kernel fills a new cgroup folder; here the test does, before the driver writes.
  void Folder(const std::string& folder, const std::vector<std::string>& files) {
    REQUIRE(MakeFolders(path_ + "/" + folder).ok());
    for (const auto& file : files) REQUIRE(CreateFile(path_ + "/" + folder + "/" + file, "", 0644).ok());
  }
  std::string Read(const std::string& file) { return ReadFile(path_ + "/" + file).value(); }

 private:
  std::string path_;
};

constexpr runtime::Limits kLimits{.cpu_millis = 1500, .cpu_shares = 1024, .memory_bytes = 1 << 20};

TEST_CASE("the version is detected by what is mounted") {
  FakeCgroups root;
  CHECK(DetectCgroupVersion(root.path()) == CgroupVersion::kNone);
  CHECK(MakeCgroupDriver(root.path(), "c")->name() == "none");
  root.Folder("memory", {});
  root.Folder("cpu", {});
  CHECK(DetectCgroupVersion(root.path()) == CgroupVersion::kV1);
  REQUIRE(CreateFile(root.path() + "/cgroup.controllers", "cpuset cpu io memory pids\n", 0644).ok());
  CHECK(DetectCgroupVersion(root.path()) == CgroupVersion::kV2);
}

TEST_CASE("v1 writes quota, shares and memory, each in its hierarchy") {
  FakeCgroups root;
  root.Folder("cpu/c/pod/main", {"cpu.cfs_quota_us", "cpu.shares"});
  root.Folder("memory/c/pod/main", {"memory.limit_in_bytes"});
  root.Folder("pids", {});
  const auto driver = MakeCgroupV1(root.path(), "c");
  const auto door = driver->Make("pod/main", kLimits);
  REQUIRE(door.ok());
  CHECK(root.Read("cpu/c/pod/main/cpu.cfs_quota_us") == "150000");
  CHECK(root.Read("cpu/c/pod/main/cpu.shares") == "1024");
  CHECK(root.Read("memory/c/pod/main/memory.limit_in_bytes") == "1048576");
  CHECK(door.value().join_files.size() == 3);
  CHECK(door.value().join_files[0] == root.path() + "/cpu/c/pod/main/tasks");
  CHECK_FALSE(door.value().clone_into.valid());
}

TEST_CASE("the cluster's folder bounds the threads of all that is in it") {
  FakeCgroups root;
  root.Folder("cpu", {});
  root.Folder("pids/c", {"pids.max"});
  REQUIRE(MakeCgroupV1(root.path(), "c")->Bound(24'576).ok());
  CHECK(root.Read("pids/c/pids.max") == "24576");
  FakeCgroups second;
  second.Folder(".", {"cgroup.subtree_control"});
  second.Folder("c", {"pids.max"});
  REQUIRE(MakeCgroupV2(second.path(), "c")->Bound(24'576).ok());
  CHECK(second.Read("c/pids.max") == "24576");
  CHECK(ThreadBound() > 0);
}

TEST_CASE("v1 reads how often the OOM killer came") {
  FakeCgroups root;
  root.Folder("cpu", {});
  root.Folder("memory/c/pod/main", {});
  const auto driver = MakeCgroupV1(root.path(), "c");
  CHECK(driver->OomKills("pod/main") == 0);
  REQUIRE(CreateFile(root.path() + "/memory/c/pod/main/memory.oom_control",
                     "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", 0644)
              .ok());
  CHECK(driver->OomKills("pod/main") == 3);
}

TEST_CASE("v2 passes controllers down and writes limits in one folder") {
  FakeCgroups root;
  for (const char* folder : {".", "c", "c/pod"}) root.Folder(folder, {"cgroup.subtree_control"});
  root.Folder("c/pod/main", {"cpu.max", "cpu.weight", "memory.max", "memory.swap.max"});
  const auto driver = MakeCgroupV2(root.path(), "c");
  const auto door = driver->Make("pod/main", kLimits);
  REQUIRE_MESSAGE(door.ok(), door.error().message);
  for (const char* folder : {"", "c/", "c/pod/"})
    CHECK(root.Read(std::string(folder) + "cgroup.subtree_control") == "+cpu +memory +pids");
  CHECK(root.Read("c/pod/main/cpu.max") == "150000 100000");
  CHECK(root.Read("c/pod/main/cpu.weight") == "39");
  CHECK(root.Read("c/pod/main/memory.max") == "1048576");
  CHECK(root.Read("c/pod/main/memory.swap.max") == "0");
  CHECK(door.value().clone_into.valid());
  REQUIRE(CreateFile(root.path() + "/c/pod/main/memory.events", "oom 2\noom_kill 1\n", 0644).ok());
  CHECK(driver->OomKills("pod/main") == 1);
}

TEST_CASE("folders go, and what holds something says so") {
  FakeCgroups root;
  root.Folder("cpu/c/pod/main", {});
  root.Folder("memory/c/pod", {});
  const auto driver = MakeCgroupV1(root.path(), "c");
  CHECK_FALSE(driver->Remove("pod"));
  CHECK(driver->Remove("pod/main"));
  CHECK(driver->Remove("pod"));
  CHECK(driver->Remove("pod"));
  root.Folder("cpu/c/left/over", {});
  CHECK(RemoveCgroups(root.path(), "c"));
  CHECK(::access((root.path() + "/cpu/c").c_str(), F_OK) != 0);
}

}  // namespace
}  // namespace tfemu::process
