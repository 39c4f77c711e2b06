// What a new daemon makes of a pod that a former one started.
#include <doctest/doctest.h>

#include "emulator/base/sim_executor.h"
#include "emulator/manager/adoption.h"
#include "emulator/manager/receipts.h"

namespace tfemu::manager {
namespace {

using api::ContainerState;
using controllers::ContainerRun;
using controllers::PodRun;
using runtime::KeptContainer;
using runtime::PodEvent;
using Run = ContainerRun::State;

constexpr Instant kNow{1'000'000'000'000};
Instant At(int seconds) { return Instant{kNow.ns + seconds * 1'000'000'000LL}; }

api::Pod PodWith(ContainerState state, int restarts = 0) {
  api::Pod pod;
  pod.meta.uid = "u";
  pod.spec.node_name = "node-1";
  api::ContainerStatus status{"main", "busybox:1"};
  status.container_id = "tfemu://u/main/" + std::to_string(restarts);
  status.state = std::move(state);
  status.restart_count = restarts;
  pod.status.containers.push_back(std::move(status));
  return pod;
}

ContainerState Running() { return {ContainerState::Type::kRunning, "", "", 0, 0, At(-60)}; }

runtime::KeptPod KeptWith(KeptContainer container) {
  container.name = "main";
  return {.uid = "u", .sandbox = runtime::KeptPod::Sandbox::kReady, .containers = {std::move(container)}};
}

PodEvent Exit(int attempt, int code) {
  return {.type = PodEvent::Type::kContainerExited,
          .uid = "u",
          .container = "main",
          .attempt = attempt,
          .exit_code = code,
          .at = At(-5)};
}

TEST_CASE("a container that runs goes on running") {
  const api::Pod pod = PodWith(Running());
  const auto kept = KeptWith({.state = KeptContainer::State::kRunning, .pid = 7, .started_at = At(-60)});
  const auto adoption = AdoptRun({pod, &kept, {}, true, kNow});
  CHECK(adoption.run.sandbox == PodRun::Sandbox::kReady);
  CHECK(adoption.run.containers.at("main").state == Run::kRunning);
  CHECK(adoption.run.containers.at("main").pid == 7);
  CHECK(adoption.news.empty());
}

TEST_CASE("what ran under a supervisor that is gone is lost, though its sandbox is made anew") {
  const api::Pod pod = PodWith(Running());
  const runtime::KeptPod kept{.uid = "u", .sandbox = runtime::KeptPod::Sandbox::kFailed};
  const auto adoption = AdoptRun({pod, &kept, {}, true, kNow});
  CHECK(adoption.run.containers.at("main").state == Run::kExited);
  CHECK(adoption.run.containers.at("main").exit_code == 137);
  CHECK(adoption.run.containers.at("main").reason == "ContainerStatusUnknown");
}

TEST_CASE("an exit that was not stored is news; one that was is not, and counts once for the back-off") {
  const PodEvent exit = Exit(2, 1);
  const auto kept = KeptWith({.attempt = 2,
                              .state = KeptContainer::State::kExited,
                              .exit_code = 1,
                              .started_at = At(-6),
                              .finished_at = At(-5)});
  const api::Pod unaware = PodWith(Running(), 2);
  const auto fresh = AdoptRun({unaware, &kept, {&exit}, true, kNow});
  CHECK(fresh.news.size() == 1);
  CHECK(fresh.run.containers.at("main").state == Run::kExited);
  CHECK(fresh.run.containers.at("main").back_off == std::chrono::seconds(20));

  api::Pod aware =
      PodWith({ContainerState::Type::kWaiting, "CrashLoopBackOff", "back-off 40s restarting failed c"}, 2);
  aware.status.containers[0].last_state =
      ContainerState{ContainerState::Type::kTerminated, "Error", "", 1, 0, At(-6), At(-5)};
  const auto again = AdoptRun({aware, &kept, {&exit}, true, kNow});
  CHECK(again.news.empty());
  CHECK(again.run.containers.at("main").back_off == std::chrono::seconds(40));
  CHECK(again.run.containers.at("main").exit_code == 1);
  CHECK(again.run.containers.at("main").attempt == 2);
}

TEST_CASE("a restart that was ordered but not stored is not ordered again") {
  const PodEvent exit = Exit(0, 9);
  const api::Pod pod = PodWith(Running());
  const auto kept = KeptWith({.attempt = 1, .state = KeptContainer::State::kRunning, .started_at = At(-1)});
  const auto run = AdoptRun({pod, &kept, {&exit}, true, kNow}).run.containers.at("main");
  CHECK(run.attempt == 1);
  CHECK(run.state == Run::kRunning);
  REQUIRE(run.last_termination);
  CHECK(run.last_termination->exit_code == 9);
  CHECK(run.back_off == Duration(0));
}

TEST_CASE("an order that never arrived is given again, under the same number") {
  const api::Pod pod = PodWith({ContainerState::Type::kWaiting, "ContainerCreating"});
  const runtime::KeptPod kept{.uid = "u", .sandbox = runtime::KeptPod::Sandbox::kReady};
  const auto with_sandbox = AdoptRun({pod, &kept, {}, true, kNow}).run.containers.at("main");
  CHECK(with_sandbox.state == Run::kNone);
  CHECK(with_sandbox.attempt == 0);
  CHECK(AdoptRun({pod, nullptr, {}, true, kNow}).run.containers.at("main").state == Run::kNone);
}

TEST_CASE("what a fresh runtime does not have is lost, unless it had ended") {
  const auto lost = AdoptRun({PodWith(Running()), nullptr, {}, false, kNow}).run.containers.at("main");
  CHECK(lost.state == Run::kExited);
  CHECK(lost.exit_code == 137);
  CHECK(lost.reason == "ContainerStatusUnknown");
  const ContainerState over{ContainerState::Type::kTerminated, "Completed", "", 0, 0, At(-9), At(-8)};
  const auto ended = AdoptRun({PodWith(over), nullptr, {}, false, kNow}).run.containers.at("main");
  CHECK(ended.exit_code == 0);
  CHECK(controllers::Termination(ended).reason == "Completed");
}

TEST_CASE("a pod that ended and was removed before its end was stored has ended") {
  const PodEvent exit = Exit(0, 0);
  const PodEvent stopped{.type = PodEvent::Type::kPodStopped, .uid = "u"};
  const auto run = AdoptRun({PodWith(Running()), nullptr, {&exit, &stopped}, true, kNow}).run;
  CHECK(run.sandbox == PodRun::Sandbox::kStopped);
  CHECK(run.containers.at("main").exit_code == 0);
  CHECK(run.containers.at("main").state == Run::kExited);
}

TEST_CASE("events are acknowledged once all before them are settled, and not one by one") {
  SimExecutor executor{Instant{}};
  std::vector<uint64_t> told;
  Receipts receipts(executor, [&](uint64_t sequence) { told.push_back(sequence); });
  const auto wait = [&] { executor.RunUntil(executor.Now() + std::chrono::milliseconds(60)); };
  receipts.Owe("a", 1);
  receipts.Owe("b", 2);
  receipts.Owe("a", 3);
  receipts.Owe("c", 0);  // of no account
  receipts.Settle("a");
  wait();
  CHECK(told == std::vector<uint64_t>{1});
  receipts.Settle("b");
  receipts.Settle("b");
  wait();
  CHECK(told == std::vector<uint64_t>{1, 3});
  receipts.Reset();
  receipts.Owe("a", 1);
  receipts.Settle("a");
  wait();
  CHECK(told == std::vector<uint64_t>{1, 3, 1});
}

}  // namespace
}  // namespace tfemu::manager
