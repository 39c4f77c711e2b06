// Volumes with a size, an owner or a kind that is asked for.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/process/files.h"
#include "tests/runtime/fixture.h"

namespace tfemu::test {
namespace {

using runtime::Volume;

struct VolumePod {
  runtime::PodLaunch pod = Cluster::PodOf("pod-a", "10.244.0.5");
  runtime::ContainerLaunch main;
};

std::string Run(Cluster& cluster, const VolumePod& launch) {
  cluster.runtime().StartPod(launch.pod);
  cluster.runtime().StartContainer("pod-a", launch.main);
  cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
  return cluster.Output(launch.main) + cluster.Output(launch.main, runtime::Stream::kStderr);
}

bool Reported(const Cluster& cluster, uint64_t at_least, uint64_t size) {
  for (const auto& event : cluster.events())
    if (event.type == Cluster::Type::kVolumeUsage && event.used_bytes >= at_least && event.size_bytes == size)
      return true;
  return false;
}

bool HaveLoopDevices() {
  return ::access("/dev/loop-control", W_OK) == 0 && ::access("/sbin/mkfs.ext4", X_OK) == 0;
}

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("a quota that is reached in mid-write is ENOSPC, and lasts") {
    SKIP_WITHOUT_ROOT();
    if (!HaveLoopDevices()) {
      MESSAGE("skipped: no loop devices or no mkfs.ext4");
      return;
    }
    const TemporaryFolder nas;
    constexpr uint64_t kQuota = 4 << 20;
    {
      Cluster cluster;
      VolumePod launch;
      launch.pod.volumes = {{.name = "nas",
                             .type = Volume::Type::kDirectory,
                             .host_path = nas.path() + "/deep",
                             .create_mode = 0755,
                             .quotas = {{nas.path(), kQuota}}}};
      launch.main =
          cluster.Shell("pod-a", "ls -A /v; echo small > /v/small; cat /dev/zero > /v/big; rm /v/big");
      launch.main.mounts = {{.volume = "nas", .target = "/v"}};
      const std::string output = Run(cluster, launch);
      CHECK(output.find("No space left on device") != std::string::npos);
      cluster.runtime().StopPod("pod-a");
      cluster.Await(Cluster::Type::kPodStopped, "pod-a");
      CHECK(cluster.Until([&] { return Reported(cluster, 1, kQuota); }));
    }
    CHECK(::access((nas.path() + "/deep").c_str(), F_OK) != 0);  // it is in the file
    Cluster cluster;
    VolumePod launch;
    launch.pod.volumes = {{.name = "nas",
                           .type = Volume::Type::kDirectory,
                           .host_path = nas.path() + "/deep",
                           .create_mode = 0755,
                           .quotas = {{nas.path(), 2 * kQuota}}}};  // grown meanwhile
    launch.main = cluster.Shell("pod-a", "cat /v/small; head -c 6000000 /dev/zero > /v/big && echo fits");
    launch.main.mounts = {{.volume = "nas", .target = "/v"}};
    CHECK(Run(cluster, launch) == "small\nfits\n");
  }

  TEST_CASE("no quota is put on files that are there already") {
    SKIP_WITHOUT_ROOT();
    const TemporaryFolder nas;
    REQUIRE(process::CreateFile(nas.path() + "/precious", "x", 0644).ok());
    Cluster cluster;
    auto pod = Cluster::PodOf("pod-a", "10.244.0.5");
    pod.volumes = {{.name = "nas",
                    .type = Volume::Type::kDirectory,
                    .host_path = nas.path(),
                    .quotas = {{nas.path(), 4 << 20}}}};
    cluster.runtime().StartPod(pod);
    const auto event = cluster.Await(Cluster::Type::kSandboxFailed, "pod-a");
    CHECK(event.reason == "FailedMount");
    CHECK(event.message.find("it holds files already (precious)") != std::string::npos);
    CHECK(process::ReadFile(nas.path() + "/precious").value() == "x");
  }

  TEST_CASE("what an emptyDir with a size holds is reported") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    VolumePod launch;
    launch.pod.volumes = {{.name = "scratch", .type = Volume::Type::kScratch, .size_bytes = 1 << 20}};
    launch.main = cluster.Shell("pod-a", "head -c 3000000 /dev/zero > /v/big; sleep 60");
    launch.main.mounts = {{.volume = "scratch", .target = "/v"}};
    cluster.runtime().StartPod(launch.pod);
    cluster.runtime().StartContainer("pod-a", launch.main);
    CHECK(cluster.Until([&] { return Reported(cluster, 3'000'000, 1 << 20); }));
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Cluster::Type::kPodStopped, "pod-a");
  }

  TEST_CASE("a group owns its volumes, and containers are of it") {
    SKIP_WITHOUT_ROOT();
    const TemporaryFolder disk;
    REQUIRE(process::CreateFile(disk.path() + "/old", "x", 0600).ok());
    REQUIRE(::symlink("/etc/hostname", (disk.path() + "/link").c_str()) == 0);
    Cluster cluster;
    VolumePod launch;
    launch.pod.volumes = {
        {.name = "scratch", .type = Volume::Type::kScratch, .group = 2000},
        {.name = "files", .type = Volume::Type::kFiles, .files = {{"a", "b", 0400}}, .group = 2000},
        {.name = "disk", .type = Volume::Type::kDirectory, .host_path = disk.path(), .group = 2000}};
    launch.main = cluster.Shell("pod-a", "touch /s/new; stat -c '%g %a' /s /s/new /f/a /d/old; id -G");
    launch.main.groups = {2000};
    launch.main.mounts = {{.volume = "scratch", .target = "/s"},
                          {.volume = "files", .target = "/f"},
                          {.volume = "disk", .target = "/d"}};
    CHECK(Run(cluster, launch) == "2000 2777\n2000 644\n2000 440\n2000 660\n0 2000\n");
    struct stat hostname {};
    REQUIRE(::stat("/etc/hostname", &hostname) == 0);
    CHECK(hostname.st_gid == 0);
  }

  TEST_CASE("a read-only volume is so in every container, and files change whole") {
    SKIP_WITHOUT_ROOT();
    const TemporaryFolder nas;
    Cluster cluster;
    VolumePod launch;
    launch.pod.volumes = {
        {.name = "nas", .type = Volume::Type::kDirectory, .host_path = nas.path(), .read_only = true},
        {.name = "files", .type = Volume::Type::kFiles, .files = {{"keep", "1"}, {"gone", "2"}}}};
    launch.main = cluster.Shell("pod-a",
                                "touch /v/x; ls /f; while test -e /f/gone; do sleep 0.05; done; cat /f/keep; "
                                "ls /f; ls -A /f | wc -l");
    launch.main.mounts = {{.volume = "nas", .target = "/v"}, {.volume = "files", .target = "/f"}};
    cluster.runtime().StartPod(launch.pod);
    cluster.runtime().StartContainer("pod-a", launch.main);
    cluster.Await(Cluster::Type::kContainerStarted, "pod-a", "main");
    REQUIRE(cluster.Until([&] { return cluster.Output(launch.main).find("keep") != std::string::npos; }));
    cluster.runtime().UpdateFiles("pod-a", "files", {{"keep", "new\n"}});
    cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
    CHECK(cluster.Output(launch.main) == "gone\nkeep\nnew\nkeep\n1\n");
    CHECK(cluster.Output(launch.main, runtime::Stream::kStderr).find("Read-only") != std::string::npos);
  }

  TEST_CASE("a link that a pod made on network storage leads nowhere else") {
    SKIP_WITHOUT_ROOT();
    const TemporaryFolder nas;
    REQUIRE(::symlink("/etc", (nas.path() + "/data").c_str()) == 0);
    REQUIRE(process::MakeFolders(nas.path() + "/etc").ok());
    Cluster cluster;
    VolumePod launch;
    launch.pod.volumes = {{.name = "nas",
                           .type = Volume::Type::kDirectory,
                           .host_path = nas.path() + "/data/deep",
                           .create_mode = 0750,
                           .host_base = nas.path()}};
    launch.main = cluster.Shell("pod-a", "ls -A /v; stat -c %a /v; echo x > /v/x");
    launch.main.mounts = {{.volume = "nas", .target = "/v"}};
    Run(cluster, launch);
    CHECK(::access("/etc/deep", F_OK) != 0);
    // As on the server: /etc is the one of the export.
    CHECK(process::ReadFile(nas.path() + "/etc/deep/x").ok());
    CHECK(cluster.Output(launch.main) == "750\n");
  }

  TEST_CASE("folders that are discarded go, or are kept aside") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const std::string one = cluster.folder() + "/one", two = cluster.folder() + "/two";
    for (const auto& folder : {one, two}) REQUIRE(process::MakeFolders(folder + "/deep").ok());
    cluster.runtime().DiscardFolder(one, "");
    cluster.runtime().DiscardFolder(two, two + ".kept");
    CHECK(cluster.Until([&] {
      return ::access(one.c_str(), F_OK) != 0 && ::access((two + ".kept/deep").c_str(), F_OK) == 0;
    }));
  }
}

}  // namespace tfemu::test
