// A supervisor that outlives its daemon: two of them in turn, and what the second is told.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "emulator/io/unix_socket.h"
#include "runtime/process/messages.h"
#include "tests/runtime/fixture.h"

namespace tfemu::test {
namespace {

using State = runtime::KeptContainer::State;
using Sandbox = runtime::KeptPod::Sandbox;

bool Alive(int pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("pods go on without a daemon, and the next one is told all") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    auto& runtime = cluster.runtime();
    const int supervisor = runtime.supervisor_pid();
    runtime.StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    runtime.StartContainer(
        "pod-a",
        cluster.Shell("pod-a", "i=0; while [ $i -lt 40 ]; do echo $i; i=$((i+1)); sleep 0.01; done; exit 3"));
    runtime.StartPod(Cluster::PodOf("pod-b", "10.244.0.6"));
    runtime.StartContainer("pod-b", cluster.Shell("pod-b", "sleep 1000"));
    const int pid = cluster.Await(Cluster::Type::kContainerStarted, "pod-b", "main").pid;
    runtime.SignalContainer("pod-b", "main", SIGTERM);  // PID 1 does not ask for it, so it stays
    runtime.Acknowledge(cluster.events().back().sequence);
    const uint64_t acknowledged = cluster.events().back().sequence;
    runtime.Abandon();
    REQUIRE(Alive(supervisor));
    REQUIRE(cluster.Until(
        [&] { return cluster.HasLog("pod-a") && cluster.OutputOf("pod-a").ends_with("39\n"); }));

    REQUIRE(cluster.Restart().ok());
    CHECK(cluster.runtime().supervisor_pid() == supervisor);
    const runtime::Kept kept = cluster.runtime().TakeOver();
    const auto exit =
        std::ranges::find(kept.events, Cluster::Type::kContainerExited, &runtime::PodEvent::type);
    const auto exited = exit != kept.events.end()  // else it comes a moment later
                            ? *exit
                            : cluster.Await(Cluster::Type::kContainerExited, "pod-a", "main");
    CHECK(exited.exit_code == 3);
    CHECK(exited.sequence > acknowledged);
    REQUIRE(kept.taken_over);
    REQUIRE(kept.pods.size() == 2);
    CHECK(kept.pods[0].address == "10.244.0.5");
    CHECK(kept.pods[1].sandbox == Sandbox::kReady);
    const auto& container = kept.pods[1].containers.at(0);
    CHECK(container.state == State::kRunning);
    CHECK(container.pid == pid);
    CHECK(container.term_sent);
    CHECK(container.program == "/bin/sh");
    std::string lines;
    for (int i = 0; i < 40; ++i) lines += std::to_string(i) + "\n";
    CHECK(cluster.OutputOf("pod-a") == lines);

    cluster.runtime().StopPod("pod-b");
    cluster.Await(Cluster::Type::kPodStopped, "pod-b");
    CHECK_FALSE(Alive(pid));
    cluster.runtime().Shutdown();
    CHECK_FALSE(std::filesystem::exists(process::SupervisorSocket(cluster.folder())));
  }

  TEST_CASE("events that nobody acknowledged are told again, those that were are not") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.RunToEnd("pod-a", "10.244.0.5", "exit 5");
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Cluster::Type::kPodStopped, "pod-a");
    for (int round = 0; round < 2; ++round) {
      cluster.runtime().Abandon();
      REQUIRE(cluster.Restart().ok());
      const auto kept = cluster.runtime().TakeOver();
      CHECK(kept.pods.empty());
      REQUIRE(kept.events.size() == 4);
      CHECK(kept.events[2].exit_code == 5);
      CHECK(kept.events[3].type == Cluster::Type::kPodStopped);
      for (size_t i = 0; i < 4; ++i) CHECK(kept.events[i].sequence == i + 1);
    }
    cluster.runtime().Acknowledge(3);
    cluster.runtime().Abandon();
    REQUIRE(cluster.Restart().ok());
    CHECK(cluster.runtime().TakeOver().events.size() == 1);
  }

  TEST_CASE("orders that a daemon sent before it died are carried out once") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const std::string count = cluster.folder() + "/starts";
    auto launch = cluster.Shell("pod-a", "echo start >> /out/starts; sleep 1000");
    launch.mounts = {{.volume = "", .target = "/out", .host_path = cluster.folder()}};
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", launch);
    cluster.runtime().Abandon();  // the supervisor has not even read them
    REQUIRE(cluster.Restart().ok());
    const auto kept = cluster.runtime().TakeOver();
    REQUIRE(kept.pods.size() == 1);
    REQUIRE(kept.pods[0].containers.size() == 1);
    cluster.runtime().StartContainer("pod-a", launch);  // a daemon that does not know better
    REQUIRE(cluster.Until([&] { return std::filesystem::exists(count); }));
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Cluster::Type::kPodStopped, "pod-a");
    CHECK(std::filesystem::file_size(count) == 6);
  }

  TEST_CASE("a daemon of another version is refused, and says what to do") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const int supervisor = cluster.runtime().supervisor_pid();
    cluster.runtime().Abandon();
    {
      boost::asio::io_context context;
      auto socket = io::ConnectUnix(process::SupervisorSocket(cluster.folder()));
      REQUIRE(socket.ok());
      CHECK(io::PeerPid(socket.value()) == supervisor);
      process::Channel channel(context, std::move(socket).value());
      process::wire::Request request;
      request.mutable_configure()->set_version(process::kProtocolVersion + 1);
      channel.Send(request.SerializeAsString());
      const auto answer = channel.ReceiveBlocking(5000);
      REQUIRE(answer.ok());
      process::wire::Reply reply;
      REQUIRE(reply.ParseFromString(answer.value()));
      CHECK(reply.report().text() ==
            "its supervisor speaks version " + std::to_string(process::kProtocolVersion) +
                " of their protocol, not " + std::to_string(process::kProtocolVersion + 1));
    }
    struct stat info {};
    REQUIRE(::stat(process::SupervisorSocket(cluster.folder()).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    REQUIRE(cluster.Restart().ok());  // the guest has changed nothing
    CHECK(cluster.runtime().supervisor_pid() == supervisor);
  }

  TEST_CASE("a supervisor without a daemon can be swept away with its pods") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.runtime().StartPod(Cluster::PodOf("pod-a", "10.244.0.5"));
    cluster.runtime().StartContainer("pod-a", cluster.Shell("pod-a", "sleep 1000"));
    const int pid = cluster.Await(Cluster::Type::kContainerStarted, "pod-a", "main").pid;
    cluster.runtime().Abandon();
    REQUIRE(cluster.runtime().Sweep().ok());
    CHECK_FALSE(Alive(pid));
    CHECK_FALSE(std::filesystem::exists(process::SupervisorPidFile(cluster.folder())));
  }

  TEST_CASE("a new supervisor takes the place of one that was killed") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    std::string why;
    cluster.runtime().SetLostHandler([&](const std::string& text) { why = text; });
    ::kill(cluster.runtime().supervisor_pid(), SIGKILL);
    REQUIRE(cluster.Until([&] { return !why.empty(); }));
    REQUIRE(cluster.runtime().Start().ok());
    CHECK_FALSE(cluster.runtime().TakeOver().taken_over);
    CHECK(cluster.RunToEnd("pod-a", "10.244.0.5", "exit 4").exit_code == 4);
  }

  TEST_CASE("both killed: the next daemon starts afresh and knows why") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const int supervisor = cluster.runtime().supervisor_pid();
    cluster.runtime().Abandon();
    ::kill(supervisor, SIGKILL);
    REQUIRE(cluster.Restart().ok());
    CHECK_FALSE(cluster.runtime().taken_over());
    CHECK(cluster.runtime().lost_before() == "tfemu-supervisor was killed while no daemon ran");
  }
}

}  // namespace tfemu::test
