// What a container may do, what it may share, and what it leaves as its last words.
#include <fstream>

#include "runtime/process/cgroup.h"
#include "tests/runtime/fixture.h"

namespace tfemu::test {
namespace {

using Type = Cluster::Type;

runtime::PodEvent RunToEnd(Cluster& cluster, const runtime::ContainerLaunch& launch) {
  cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
  cluster.runtime().StartContainer("pod-a", launch);
  return cluster.Await(Type::kContainerExited, "pod-a", launch.name);
}

std::string CapabilitiesWith(const runtime::Privileges& privileges, const std::string& user = "") {
  Cluster cluster;
  auto launch =
      cluster.Shell("pod-a", "grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status | tr -d '\\t\\n'");
  launch.privileges = privileges;
  launch.user = user;
  RunToEnd(cluster, launch);
  return cluster.Output(launch);
}

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("capabilities are added and dropped") {
    SKIP_WITHOUT_ROOT();
    CHECK(CapabilitiesWith({}) == "CapEff:00000000a00425fbCapBnd:00000000a00425fbNoNewPrivs:0");
    CHECK(CapabilitiesWith({.add = {"NET_BIND_SERVICE"}, .drop = {"ALL"}}) ==
          "CapEff:0000000000000400CapBnd:0000000000000400NoNewPrivs:0");
    CHECK(CapabilitiesWith({.add = {"SYS_PTRACE"}, .drop = {"CHOWN"}}) ==
          "CapEff:00000000a00c25faCapBnd:00000000a00c25faNoNewPrivs:0");
    CHECK(CapabilitiesWith({.drop = {"all"}, .no_new = true}, "1000") ==
          "CapEff:0000000000000000CapBnd:0000000000000000NoNewPrivs:1");
  }

  TEST_CASE("a capability that does not exist is named") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto launch = cluster.Shell("pod-a", "true");
    launch.privileges.add = {"FLY"};
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", launch);
    CHECK(cluster.Await(Type::kContainerStartFailed, "pod-a", "main").message ==
          "unknown capability \"FLY\"");
  }

  TEST_CASE("a read-only root keeps volumes and devices writable") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto pod = Cluster::PodOf("pod-a", "10.244.0.5");
    pod.volumes = {{.name = "data"}};
    auto launch =
        cluster.Shell("pod-a",
                      "for f in /x /etc/x /opt/x /tmp/x /var/tmp/x; do touch $f 2>/dev/null && echo $f; "
                      "done; echo x >/dev/null; touch /opt/data/y /dev/shm/y && ls /opt/data; pwd");
    launch.privileges.read_only_root = true;
    launch.working_dir = "/made";
    launch.mounts = {{.volume = "data", .target = "/opt/data"}};
    cluster.runtime().StartPod(pod);
    cluster.runtime().StartContainer("pod-a", launch);
    cluster.Await(Type::kContainerExited, "pod-a", "main");
    CHECK(cluster.Output(launch) == "y\n/made\n");
  }

  TEST_CASE("the end of the termination message file is told") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto launch = cluster.Shell("pod-a", "head -c 5000 /dev/zero | tr '\\0' a > $FILE; printf end >> $FILE");
    launch.env.push_back("FILE=/var/log/end");
    launch.message_path = "/var/log/end";
    launch.user = "1000";
    const std::string message = RunToEnd(cluster, launch).message;
    CHECK(message.size() == 4096);
    CHECK(message.ends_with("aaend"));

    // Another attempt begins with an empty file.
    launch.attempt = 1;
    launch.argv = {"sh", "-c", "cat $FILE >&2; echo one; seq 100; exit 3"};
    launch.message_from_log = true;
    cluster.runtime().StartContainer("pod-a", launch);
    REQUIRE(cluster.Until([&] {
      return cluster.events().back().attempt == 1 && cluster.events().back().type == Type::kContainerExited;
    }));
    const std::string tail = cluster.events().back().message;
    CHECK(tail.starts_with("21\n22\n"));  // 80 lines
    CHECK(tail.ends_with("\n100\n"));
  }

  TEST_CASE("containers that share processes see and signal each other, and end alone") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto pod = Cluster::PodOf("pod-a", "10.244.0.5");
    pod.share_processes = true;
    auto other =
        cluster.Shell("pod-a", "trap 'exit 5' USR1; touch /dev/shm/up; while :; do sleep 0.05; done");
    other.name = "other";
    other.log_path += ".other";
    auto launch = cluster.Shell(
        "pod-a",
        "while [ ! -e /dev/shm/up ]; do sleep 0.05; done; cat /proc/1/comm; ls /proc/1/root 2>/dev/null; "
        "sleep 300 & kill -USR1 $(pgrep -f 'exit 5' | head -1); exit 4");
    cluster.runtime().StartPod(pod);
    cluster.runtime().StartContainer("pod-a", other);
    cluster.runtime().StartContainer("pod-a", launch);
    CHECK(cluster.Await(Type::kContainerExited, "pod-a", "main").exit_code == 4);
    CHECK(cluster.Await(Type::kContainerExited, "pod-a", "other").exit_code == 5);
    CHECK(cluster.Output(launch) == "pause\n");
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Type::kPodStopped, "pod-a");
  }
}

}  // namespace tfemu::test
