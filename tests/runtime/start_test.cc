// Starting, ending, limits, and what a container finds around it.
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "runtime/process/cgroup.h"
#include "runtime/process/files.h"
#include "tests/runtime/fixture.h"

namespace tfemu::test {
namespace {

bool HaveCgroups() {
  return process::DetectCgroupVersion(process::kCgroupMount) != process::CgroupVersion::kNone;
}

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("a container runs, prints and ends with its code") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const auto exited = cluster.RunToEnd("pod-a", "10.244.0.5", "echo hello; hostname; echo no >&2; exit 3");
    CHECK(exited.exit_code == 3);
    CHECK(exited.signal == 0);
    CHECK(cluster.OutputOf("pod-a") == "hello\npod-a\n");
    CHECK(cluster.Output(cluster.Shell("pod-a", ""), runtime::Stream::kStderr) == "no\n");
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Cluster::Type::kPodStopped, "pod-a");
    CHECK(cluster.events()[0].type == Cluster::Type::kSandboxReady);
    CHECK(cluster.events()[1].type == Cluster::Type::kContainerStarted);
    CHECK(cluster.events()[1].pid > 0);
    CHECK(cluster.events()[2].type == Cluster::Type::kContainerExited);
  }

  TEST_CASE("signals end a container with 128+n") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer(
        "pod-a", cluster.Shell("pod-a", "trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done"));
    REQUIRE(cluster.Until([&] { return !cluster.events().empty() && cluster.HasLog("pod-a"); }));
    cluster.runtime().SignalContainer("pod-a", "main", SIGTERM);
    CHECK(cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main").exit_code == 7);

    auto second = cluster.Shell("pod-a", "sleep 100");
    second.attempt = 1;
    cluster.runtime().StartContainer("pod-a", second);
    REQUIRE(cluster.Until([&] { return cluster.events().back().attempt == 1; }));
    cluster.runtime().SignalContainer("pod-a", "main", SIGKILL);
    REQUIRE(cluster.Until([&] { return cluster.events().back().type == Cluster::Type::kContainerExited; }));
    CHECK(cluster.events().back().exit_code == 137);
    CHECK(cluster.events().back().signal == SIGKILL);
    CHECK_FALSE(cluster.events().back().oom_killed);
  }

  TEST_CASE("a command that does not exist is named") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto launch = cluster.Shell("pod-a", "");
    launch.argv = {"no-such-program", "x"};
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", launch);
    const auto event = cluster.Await(Cluster::Type::kContainerStartFailed, "pod-a", "main");
    CHECK(event.reason == "StartError");
    CHECK(event.exit_code == 127);
    CHECK(event.message == "exec: \"no-such-program\": executable file not found in $PATH");

    launch.attempt = 1;
    launch.argv = {"/etc/hostname"};
    cluster.runtime().StartContainer("pod-a", launch);
    REQUIRE(cluster.Until([&] { return cluster.events().back().attempt == 1; }));
    CHECK(cluster.events().back().message == "exec: \"/etc/hostname\": permission denied");
    CHECK(cluster.events().back().exit_code == 128);
  }

  TEST_CASE("requests are idempotent, and an unknown pod is stopped at once") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    for (int i = 0; i < 2; ++i) cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    for (int i = 0; i < 2; ++i) cluster.runtime().StartContainer("pod-a", cluster.Shell("pod-a", "exit 0"));
    cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
    cluster.runtime().StopPod("never-was");
    cluster.Await(Cluster::Type::kPodStopped, "never-was");
    CHECK(cluster.events().size() == 4);
  }

  TEST_CASE("a container over its memory limit is OOM-killed") {
    SKIP_WITHOUT_ROOT();
    if (!HaveCgroups()) {
      MESSAGE("skipped: this host has no writable cgroups");
      return;
    }
    Cluster cluster;
    auto launch = cluster.Shell("pod-a", "");
    launch.argv = {"tail", "/dev/zero"};
    launch.limits = {.cpu_millis = 500, .cpu_shares = 512, .memory_bytes = 32 << 20};
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", launch);
    const auto exited = cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
    CHECK(exited.oom_killed);
    CHECK(exited.exit_code == 137);
  }

  TEST_CASE("limits stand in the container's cgroup") {
    SKIP_WITHOUT_ROOT();
    if (process::DetectCgroupVersion(process::kCgroupMount) != process::CgroupVersion::kV1) {
      MESSAGE("skipped: this host has no cgroup v1");
      return;
    }
    Cluster cluster;
    auto launch = cluster.Shell("pod-a", "sleep 100");
    launch.limits = {.cpu_millis = 500, .cpu_shares = 512, .memory_bytes = 64 << 20};
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", launch);
    const int pid = cluster.Await(Cluster::Type::kContainerStarted, "pod-a", "main").pid;
    const auto folder = [&](const std::string& controller) {
      return "/sys/fs/cgroup/" + controller + "/" + cluster.runtime().CgroupName() + "/pod-a/main/";
    };
    CHECK(process::ReadFile(folder("cpu") + "cpu.cfs_quota_us").value() == "50000\n");
    CHECK(process::ReadFile(folder("cpu") + "cpu.shares").value() == "512\n");
    CHECK(process::ReadFile(folder("memory") + "memory.limit_in_bytes").value() == "67108864\n");
    CHECK(process::ReadFile(folder("pids") + "cgroup.procs").value().starts_with(std::to_string(pid) + "\n"));
  }

  TEST_CASE("a child finds three descriptors, the default signals and PID 1") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.RunToEnd("pod-a", "10.244.0.5", "ls /proc/$$/fd; echo pid $$; grep SigIgn /proc/self/status");
    CHECK(cluster.OutputOf("pod-a") == "0\n1\n2\npid 1\nSigIgn:\t0000000000000000\n");
  }

  TEST_CASE("environment and working directory") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto launch = cluster.Shell("pod-a", "echo $GREETING; pwd; echo $HOSTNAME $HOME");
    launch.env = {"GREETING=hi there", "HOME=/data"};
    launch.working_dir = "/made/for/it";
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", launch);
    cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
    CHECK(cluster.OutputOf("pod-a") == "hi there\n/made/for/it\npod-a /data\n");
  }

  TEST_CASE("init and main container share the pod's namespaces") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    const std::string script =
        "for n in net ipc uts; do readlink /proc/self/ns/$n; done; touch /dev/shm/$NAME; ls /dev/shm; touch "
        "/tmp/$NAME; ls /tmp";
    auto init = cluster.Shell("pod-a", script);
    init.name = "init";
    init.env = {"NAME=init"};
    init.log_path += ".init";
    cluster.runtime().StartContainer("pod-a", init);
    cluster.Await(Cluster::Type::kContainerExited, "pod-a", "init");
    auto main = cluster.Shell("pod-a", script);
    main.env = {"NAME=main"};
    cluster.runtime().StartContainer("pod-a", main);
    cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
    const std::string first = cluster.Output(init), second = cluster.Output(main);
    const auto namespaces = first.substr(0, first.find("init"));
    CHECK(first == namespaces + "init\ninit\n");
    CHECK(second == namespaces + "init\nmain\nmain\n");
  }
}

}  // namespace tfemu::test
