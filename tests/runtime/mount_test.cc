// What a container sees of the host, of layers and of volumes.
#include <sys/stat.h>
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

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("the root holds what the plan says and nothing else of the host") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.RunToEnd(
        "pod-a", "10.244.0.5",
        "ls -A /root /home /tmp /var/tmp /mnt; touch /usr/x; touch /etc/x /opt/x /var/x /x && echo written; "
        "cat /etc/hostname; grep -c . /etc/resolv.conf; test -e /work && echo leaked; ls /dev");
    CHECK(
        cluster.OutputOf("pod-a") ==
        "/home:\n\n/mnt:\n\n/root:\n\n/tmp:\n\n/var/tmp:\nwritten\npod-a\n3\n"
        "core\nfd\nfull\nmqueue\nnull\nptmx\npts\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n");
    CHECK(::access("/etc/x", F_OK) != 0);
    const std::string errors = cluster.Output(cluster.Shell("pod-a", ""), runtime::Stream::kStderr);
    CHECK(errors.find("Read-only file system") != std::string::npos);
  }

  TEST_CASE("volumes appear exactly where the manifest puts them") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const std::string nas = cluster.folder() + "/nas";
    VolumePod launch;
    launch.pod.volumes = {
        {.name = "nas", .type = Volume::Type::kDirectory, .host_path = nas, .create_mode = 0755},
        {.name = "scratch", .type = Volume::Type::kScratch},
        {.name = "memory", .type = Volume::Type::kMemory, .size_bytes = 1 << 20},
        {.name = "files", .type = Volume::Type::kFiles, .files = {{"a/b", "content\n", 0640}}}};
    launch.main = cluster.Shell(
        "pod-a",
        "echo model > /training/logs/m; echo s > /usr/share/made-here/s; cat /conf/a/b; "
        "stat -c %a /conf/a/b /training; touch /conf/x; touch /ro/x; cat /ro/m; "
        "df -k --output=size /memory | tail -1; head -c 2000000 /dev/zero > /memory/big || echo full");
    launch.main.mounts = {{.volume = "nas", .sub_path = "deep/logs", .target = "/training/logs"},
                          {.volume = "nas", .target = "/training"},
                          {.volume = "nas", .sub_path = "deep/logs", .target = "/ro", .read_only = true},
                          {.volume = "scratch", .target = "/usr/share/made-here"},
                          {.volume = "memory", .target = "/memory"},
                          {.volume = "files", .target = "/conf"}};
    const std::string output = Run(cluster, launch);
    CAPTURE(output);
    CHECK(output.starts_with("content\n640\n755\nmodel\n     1024\nfull\n"));
    CHECK(output.find("touch: cannot touch '/conf/x': Read-only file system") != std::string::npos);
    CHECK(output.find("touch: cannot touch '/ro/x': Read-only file system") != std::string::npos);
    CHECK(process::ReadFile(nas + "/deep/logs/m").value() == "model\n");
    CHECK(::access("/usr/share/made-here", F_OK) != 0);
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Cluster::Type::kPodStopped, "pod-a");
    CHECK(::access((cluster.folder() + "/pods/pod-a").c_str(), F_OK) != 0);
    CHECK(process::ReadFile(nas + "/deep/logs/m").value() == "model\n");
  }

  TEST_CASE("a sub path does not follow a link out of its volume") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const std::string nas = cluster.folder() + "/nas";
    REQUIRE(process::MakeFolders(nas).ok());
    REQUIRE(::symlink("/etc", (nas + "/escape").c_str()) == 0);
    VolumePod launch;
    launch.pod.volumes = {{.name = "nas", .type = Volume::Type::kDirectory, .host_path = nas}};
    launch.main = cluster.Shell("pod-a", "ls -A /in");
    launch.main.mounts = {{.volume = "nas", .sub_path = "escape/inside", .target = "/in"}};
    cluster.runtime().StartPod(launch.pod);
    cluster.runtime().StartContainer("pod-a", launch.main);
    const auto event = cluster.Await(Cluster::Type::kContainerStartFailed, "pod-a", "main");
    CHECK(event.message ==
          "failed to prepare subPath \"escape/inside\" for volumeMount on /in: a symbolic link on its way "
          "leads "
          "out of the volume");
    CHECK(::access("/etc/inside", F_OK) != 0);
  }

  TEST_CASE("a host path that is missing is named") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto pod = Cluster::PodOf("pod-a", "10.244.0.5");
    pod.volumes = {{.name = "data", .type = Volume::Type::kDirectory, .host_path = "/no/such/folder"}};
    cluster.runtime().StartPod(pod);
    const auto event = cluster.Await(Cluster::Type::kSandboxFailed, "pod-a");
    CHECK(event.reason == "FailedMount");
    CHECK(event.message ==
          "MountVolume.SetUp failed for volume \"data\" : hostPath type check failed: /no/such/folder does "
          "not exist");
    pod.volumes[0].host_path = cluster.folder();  // the kubelet tries again, and so may we
    cluster.runtime().StartPod(pod);
    cluster.Await(Cluster::Type::kSandboxReady, "pod-a");
  }

  TEST_CASE("layers add folders, merge into the host's, and stay as they were") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const std::string layer = cluster.folder() + "/image, v1:x/rootfs", python = cluster.folder() + "/venv";
    REQUIRE(process::MakeFolders(layer + "/app").ok());
    REQUIRE(process::MakeFolders(layer + "/usr/share/added").ok());
    REQUIRE(process::MakeFolders(python + "/bin").ok());
    REQUIRE(process::CreateFile(layer + "/app/main.sh", "echo from layer\n", 0755).ok());
    REQUIRE(process::CreateFile(layer + "/start", "top\n", 0644).ok());
    REQUIRE(process::CreateFile(python + "/bin/pythonic", "#!/bin/sh\necho $VIRTUAL_ENV\n", 0755).ok());
    VolumePod launch;
    launch.main =
        cluster.Shell("pod-a",
                      "sh /app/main.sh; test -d /usr/share/added && test -e /usr/bin/env && echo merged; "
                      "cat /start; echo x > /app/new && echo wrote; pythonic");
    launch.main.root = {.layers = {layer}, .python_environment = python};
    CHECK(Run(cluster, launch) == "from layer\nmerged\ntop\nwrote\n/opt/venv\n");
    CHECK(::access((layer + "/app/new").c_str(), F_OK) != 0);
  }

  TEST_CASE("a mount that cannot be made fails the start with the reason") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    VolumePod launch;
    launch.pod.volumes = {{.name = "files", .type = Volume::Type::kFiles, .files = {{"a", "b"}}}};
    launch.main = cluster.Shell("pod-a", "");
    launch.main.mounts = {{.volume = "files", .target = "/proc/x"}};
    cluster.runtime().StartPod(launch.pod);
    cluster.runtime().StartContainer("pod-a", launch.main);
    const auto event = cluster.Await(Cluster::Type::kContainerStartFailed, "pod-a", "main");
    CHECK(event.message == "\"/proc/x\" cannot be mounted because it is inside /proc");
    CHECK(event.exit_code == 128);
  }
}

}  // namespace tfemu::test
