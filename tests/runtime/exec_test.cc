// Processes that enter a running container.
#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include "emulator/base/strings.h"
#include "runtime/process/files.h"
#include "tests/runtime/fixture.h"

namespace tfemu::test {
namespace {

struct Outcome {
  std::string output;
  int code = -1;
  std::string error;
};

Outcome Exec(Cluster& cluster, const std::string& uid, std::vector<std::string> argv) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const UniqueFd reading(ends[0]);
  runtime::ExecLaunch launch{.container = "main", .argv = std::move(argv)};
  launch.stdio[0].Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  launch.stdio[1].Reset(ends[1]);
  launch.stdio[2].Reset(::fcntl(ends[1], F_DUPFD_CLOEXEC, 0));
  Outcome outcome;
  bool done = false;
  cluster.runtime().Exec(uid, std::move(launch), [&](const Result<int>& result) {
    done = true;
    if (result.ok()) outcome.code = result.value();
    else outcome.error = result.error().message;
  });
  REQUIRE(cluster.Until([&] { return done; }));
  char buffer[4096];
  ::fcntl(reading.get(), F_SETFL, O_NONBLOCK);
  for (ssize_t got; (got = ::read(reading.get(), buffer, sizeof buffer)) > 0;)
    outcome.output.append(buffer, static_cast<size_t>(got));
  return outcome;
}

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("exec runs inside the container") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto launch = cluster.Shell("pod-a", "echo secret > /tmp/here; echo up; exec sleep 1000");
    launch.env = {"NAME=value"};
    launch.working_dir = "/opt";
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", launch);
    REQUIRE(cluster.Until([&] { return cluster.HasLog("pod-a"); }));

    auto outcome = Exec(cluster, "pod-a",
                        {"sh", "-c",
                         "cat /tmp/here; pwd; echo $NAME; hostname; cat /proc/1/cmdline | tr '\\0' ' '; ls "
                         "/proc/self/fd; exit 5"});
    CHECK(outcome.code == 5);
    CHECK(outcome.output == "secret\n/opt\nvalue\npod-a\nsleep 1000 0\n1\n2\n3\n");
    CHECK(Exec(cluster, "pod-a", {"sh", "-c", "kill -9 $$"}).code == 137);
    CHECK(Exec(cluster, "pod-a", {"no-such-program"}).code == 127);
    CHECK(Exec(cluster, "pod-a", {"/etc/hostname"}).error == "exec: \"/etc/hostname\": permission denied");
    CHECK(Exec(cluster, "nobody", {"true"}).error == "the pod is not running");

    // Nothing that execs left behind belongs to the supervisor: its only child is the container.
    CHECK(Exec(cluster, "pod-a", {"sh", "-c", "(setsid sh -c 'exit 3' &) ; (sleep 1000 &) ; exit 0"}).code ==
          0);
    const std::string pid = std::to_string(cluster.runtime().supervisor_pid());
    const auto children = process::ReadFile("/proc/" + pid + "/task/" + pid + "/children");
    REQUIRE(children.ok());
    CHECK(Split(Trim(children.value()), ' ').size() == 1);

    cluster.runtime().SignalContainer("pod-a", "main", 9);
    cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
    CHECK(Exec(cluster, "pod-a", {"true"}).error == "container main is not running");
  }

  TEST_CASE("exec on a terminal makes it the controlling one") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", cluster.Shell("pod-a", "exec sleep 1000"));
    cluster.Await(Cluster::Type::kContainerStarted, "pod-a", "main");
    int master = -1, slave = -1;
    REQUIRE(::openpty(&master, &slave, nullptr, nullptr, nullptr) == 0);
    const UniqueFd terminal(master);
    runtime::ExecLaunch launch{
        .container = "main",
        .argv = {"sh", "-c", "echo on a terminal $TERM > /dev/tty; test -t 0 && exit 4"},
        .tty = true};
    for (auto& fd : launch.stdio) fd.Reset(::fcntl(slave, F_DUPFD_CLOEXEC, 0));
    ::close(slave);
    int code = -1;
    cluster.runtime().Exec("pod-a", std::move(launch),
                           [&](const Result<int>& result) { code = result.value(); });
    REQUIRE(cluster.Until([&] { return code >= 0; }));
    CHECK(code == 4);
    char text[100] = "";
    CHECK(::read(terminal.get(), text, sizeof text - 1) > 0);
    CHECK(std::string(text) == "on a terminal xterm\r\n");
  }

  TEST_CASE("an exec ends with its container") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", cluster.Shell("pod-a", "sleep 1000"));
    cluster.Await(Cluster::Type::kContainerStarted, "pod-a", "main");
    int code = 0;
    int pipe[2] = {-1, -1};
    REQUIRE(::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0);
    const UniqueFd output(pipe[0]);
    runtime::ExecLaunch launch{.container = "main", .argv = {"sh", "-c", "echo runs; exec sleep 1000"}};
    for (auto& fd : launch.stdio) fd.Reset(::open("/dev/null", O_RDWR | O_CLOEXEC));
    launch.stdio[1].Reset(pipe[1]);
    cluster.runtime().Exec("pod-a", std::move(launch), [&](const Result<int>& result) {
      REQUIRE(result.ok());
      code = result.value();
    });
    // Killed earlier, between clone and exec, it would have been refused and not have ended.
    char text[8] = "";
    REQUIRE(cluster.Until([&] { return ::read(output.get(), text, sizeof text) > 0; }));
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Cluster::Type::kPodStopped, "pod-a");
    CHECK(code == 137);
  }
}

}  // namespace tfemu::test
