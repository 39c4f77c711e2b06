// Nothing is left, whichever way it ends.
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/process/files.h"
#include "runtime/process/host_probe.h"
#include "tests/runtime/fixture.h"

namespace tfemu::test {
namespace {

bool Alive(int pid) { return ::kill(pid, 0) == 0; }

bool CgroupsLeft(const std::string& name) {
  for (const char* place : {"", "cpu/", "memory/", "pids/"})
    if (std::filesystem::exists(std::string("/sys/fs/cgroup/") + place + name)) return true;
  return false;
}

std::vector<int> StartSleepers(Cluster& cluster, int count) {
  std::vector<int> pids;
  for (int i = 0; i < count; ++i) {
    const std::string uid = "pod-" + std::to_string(i);
    auto pod = Cluster::PodOf(uid, "10.244.0." + std::to_string(2 + i));
    pod.volumes = {{.name = "scratch"}, {.name = "memory", .type = runtime::Volume::Type::kMemory}};
    cluster.runtime().StartPod(pod);
    auto launch = cluster.Shell(uid, "sleep 1000 & (setsid sleep 1000 &); touch /scratch/file; sleep 1000");
    launch.mounts = {{.volume = "scratch", .target = "/scratch"}, {.volume = "memory", .target = "/memory"}};
    cluster.runtime().StartContainer(uid, launch);
  }
  for (int i = 0; i < count; ++i)
    pids.push_back(cluster.Await(Cluster::Type::kContainerStarted, "pod-" + std::to_string(i), "main").pid);
  return pids;
}

void CheckNothingLeft(Cluster& cluster, const std::vector<int>& pids) {
  for (const int pid : pids) CHECK_FALSE(Alive(pid));
  CHECK_FALSE(CgroupsLeft(cluster.runtime().CgroupName()));
  const auto mounts = process::ReadFile("/proc/self/mountinfo");
  CHECK(mounts.value().find(cluster.folder()) == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(cluster.folder() + "/pods"));
  CHECK_FALSE(std::filesystem::exists(cluster.folder() + "/supervisor"));
}

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("a hundred pods come and go") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const auto pids = StartSleepers(cluster, 100);
    for (int i = 0; i < 100; ++i) cluster.runtime().StopPod("pod-" + std::to_string(i));
    for (int i = 0; i < 100; ++i) cluster.Await(Cluster::Type::kPodStopped, "pod-" + std::to_string(i));
    for (const int pid : pids) CHECK_FALSE(Alive(pid));
    CHECK(cluster.reports().empty());
    const auto again = StartSleepers(cluster, 3);
    CHECK(again.size() == 3);
  }

  TEST_CASE("pods may be stopped at any moment of their start") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    for (int i = 0; i < 20; ++i) {
      const std::string uid = "pod-" + std::to_string(i);
      cluster.runtime().StartPod(Cluster::PodOf(uid, "10.244.0." + std::to_string(2 + i)));
      if (i % 4 > 0) cluster.runtime().StartContainer(uid, cluster.Shell(uid, "sleep 1000"));
      if (i % 4 == 3) cluster.Await(Cluster::Type::kSandboxReady, uid);
      for (int twice = 0; twice < 2; ++twice) cluster.runtime().StopPod(uid);
    }
    for (int i = 0; i < 20; ++i) cluster.Await(Cluster::Type::kPodStopped, "pod-" + std::to_string(i));
    cluster.runtime().Shutdown();
    CheckNothingLeft(cluster, {});
    CHECK(cluster.reports().empty());
  }

  TEST_CASE("shutdown leaves nothing") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const auto pids = StartSleepers(cluster, 5);
    cluster.runtime().Shutdown();
    CheckNothingLeft(cluster, pids);
    CHECK(cluster.reports().empty());
  }

  TEST_CASE("a killed supervisor takes its pods with it, and is reported") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const auto pids = StartSleepers(cluster, 5);
    std::string why, socket_error;
    cluster.runtime().SetLostHandler([&](const std::string& text) { why = text; });
    ::kill(cluster.runtime().supervisor_pid(), SIGKILL);
    cluster.runtime().OpenSocket(
        "pod-0", [&](const Result<UniqueFd>& result) { socket_error = result.error().message; });
    REQUIRE(cluster.Until([&] { return !why.empty(); }));
    CHECK(why == "tfemu-supervisor was killed by signal 9");
    CHECK(socket_error == why);
    CHECK(cluster.runtime().supervisor_pid() == 0);
    CheckNothingLeft(cluster, pids);
  }

  TEST_CASE("a supervisor whose daemon is gone stops its pods") {
    SKIP_WITHOUT_ROOT();
    std::vector<int> pids;
    {
      Cluster cluster;
      pids = StartSleepers(cluster, 2);
    }
    for (const int pid : pids) CHECK_FALSE(Alive(pid));
  }

  TEST_CASE("a supervisor program that cannot run is named") {
    boost::asio::io_context context;
    io::AsioExecutor executor(context);
    const TemporaryFolder folder;
    process::ProcessRuntime runtime(
        executor, {.state_folder = folder.path(), .cluster = "x", .supervisor_program = "/no/such/program"});
    const auto started = runtime.Start();
    REQUIRE_FALSE(started.ok());
    CHECK(started.error().message == "run /no/such/program: No such file or directory");
  }

  TEST_CASE("the host can be probed") {
    const auto host = process::ProbeHost();
    CHECK(host.root == HaveRoot());
    CHECK_FALSE(host.kernel.empty());
    if (HaveRoot()) CHECK(host.CanRunPods() == (host.namespaces && host.overlay));
    if (!HaveRoot()) CHECK_FALSE(host.lacks.empty());
  }
}

}  // namespace tfemu::test
