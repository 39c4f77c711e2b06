// The simulated supervisor over the death of its daemon, and its own.
#include "runtime/sim_runtime.h"

#include <doctest/doctest.h>

#include <csignal>

#include "emulator/base/sim_executor.h"

namespace tfemu::runtime {
namespace {

using namespace std::chrono_literals;
using Type = PodEvent::Type;

struct Node {
  explicit Node(Script script = {})
      : runtime(executor, [script](const auto&, const auto&) { return script; }) {
    Connect();
  }
  void Connect() {
    runtime.SetSink([this](const PodEvent& event) { told.push_back(event); });
    kept = runtime.TakeOver();
  }
  void StartMain(int attempt = 0) {
    runtime.StartPod({.uid = "u", .ns = "default", .name = "p", .address = "10.244.0.2"});
    runtime.StartContainer("u", {.name = "main", .attempt = attempt, .argv = {"python3"}});
  }
  void Advance(Duration time) { executor.RunUntil(executor.Now() + time); }

  SimExecutor executor{Instant{1'000'000'000}};
  SimRuntime runtime;
  std::vector<PodEvent> told;
  Kept kept;
};

TEST_CASE("pods live on without a daemon, and what ends meanwhile is told to the next") {
  Node node({.run_for = 10s, .exit_code = 3});
  CHECK_FALSE(node.kept.taken_over);
  node.StartMain();
  node.Advance(1s);
  REQUIRE(node.told.size() == 2);
  CHECK(node.told[1].sequence == 2);
  node.runtime.Acknowledge(1);
  node.runtime.LoseDaemon();
  node.Advance(20s);
  CHECK(node.told.size() == 2);
  node.Connect();
  CHECK(node.kept.taken_over);
  REQUIRE(node.kept.pods.size() == 1);
  CHECK(node.kept.pods[0].address == "10.244.0.2");
  CHECK(node.kept.pods[0].containers.at(0).state == KeptContainer::State::kExited);
  REQUIRE(node.kept.events.size() == 2);
  CHECK(node.kept.events[1].exit_code == 3);
  node.StartMain();  // given again, since its daemon did not know whether it had arrived
  node.Advance(20s);
  CHECK(node.runtime.starts().at("u/main/0") == 1);
  CHECK(node.told.size() == 2);
}

TEST_CASE("an event that was on its way when the daemon died is told once, to the next") {
  Node node;
  node.StartMain();
  node.runtime.LoseDaemon();
  node.Connect();
  CHECK(node.kept.events.size() == 1);
  node.Advance(1s);
  REQUIRE(node.told.size() == 1);
  CHECK(node.told[0].type == Type::kContainerStarted);
}

TEST_CASE("a supervisor that dies takes its pods along, and its numbers begin again") {
  Node node({.run_for = 10s});
  node.StartMain();
  node.Advance(1s);
  bool told = false;
  node.runtime.Fail([&] { told = true; });
  node.StartMain(1);
  node.Advance(20s);
  CHECK(told);
  CHECK(node.told.size() == 2);
  CHECK(node.runtime.pods().empty());
  node.runtime.Restart();
  node.Connect();
  CHECK_FALSE(node.kept.taken_over);
  node.StartMain(1);
  node.Advance(1s);
  REQUIRE(node.told.size() == 4);
  CHECK(node.told[2].sequence == 1);
}

TEST_CASE("containers wait for their sandbox, and fail with it") {
  Node node;
  node.runtime.directions().sandbox = [](const PodLaunch&) { return SandboxScript{2s, "no space", 1s}; };
  node.StartMain();
  node.Advance(1s);
  CHECK(node.told.empty());
  node.Advance(2s);
  REQUIRE(node.told.size() == 2);
  CHECK(node.told[0].type == Type::kSandboxFailed);
  CHECK(node.told[1].type == Type::kContainerStartFailed);
  node.runtime.StopPod("u");
  node.runtime.StopPod("u");
  node.Advance(2s);
  REQUIRE(node.told.size() == 3);
  CHECK(node.told[2].type == Type::kPodStopped);
  node.runtime.StopPod("u");  // nothing is left of it: said at once
  node.Advance(0s);
  CHECK(node.told.size() == 4);
}

TEST_CASE("a program that does not hear SIGTERM hears SIGKILL, and none starts beside another") {
  Node node({.ignores_sigterm = true});
  node.StartMain();
  node.Advance(1s);
  node.runtime.StartContainer("u", {.name = "main", .attempt = 1});
  CHECK(node.runtime.overlaps() == 1);
  node.runtime.SignalContainer("u", "main", SIGTERM);
  node.Advance(1s);
  CHECK(node.told.size() == 2);
  node.runtime.SignalContainer("u", "main", SIGKILL);
  node.Advance(1s);
  REQUIRE(node.told.size() == 3);
  CHECK(node.told[2].exit_code == 137);
}

}  // namespace
}  // namespace tfemu::runtime
