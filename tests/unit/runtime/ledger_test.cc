// What the supervisor remembers for the next daemon.
#include "runtime/supervisor/ledger.h"

#include <doctest/doctest.h>

#include <csignal>

namespace tfemu::supervisor {
namespace {

using runtime::PodEvent;

process::wire::StartContainer Start(int attempt) {
  process::wire::StartContainer message;
  message.set_uid("u");
  message.set_name("main");
  message.set_attempt(attempt);
  message.add_argv("python3");
  return message;
}

runtime::Kept Snapshot(const Ledger& ledger) {
  return process::Decode(ledger.Snapshot(), [](int64_t ns) { return Instant{ns}; });
}

TEST_CASE("a pod's state follows what was asked and what happened") {
  Ledger ledger;
  process::wire::StartPod pod;
  pod.set_uid("u");
  pod.set_address("10.244.0.2");
  ledger.OnStartPod(pod);
  ledger.OnStartContainer(Start(0));
  (void)ledger.Add({.type = PodEvent::Type::kSandboxReady, .uid = "u"}, 10);
  (void)ledger.Add({.type = PodEvent::Type::kContainerStarted, .uid = "u", .container = "main", .pid = 7},
                   20);
  process::wire::SignalContainer term;
  term.set_uid("u");
  term.set_container("main");
  term.set_signal(SIGTERM);
  ledger.OnSignal(term);
  ledger.OnStartContainer(Start(0));  // asked twice: nothing is forgotten
  auto kept = Snapshot(ledger);
  REQUIRE(kept.pods.size() == 1);
  CHECK(kept.pods[0].sandbox == runtime::KeptPod::Sandbox::kReady);
  auto& container = kept.pods[0].containers.at(0);
  CHECK(container.state == runtime::KeptContainer::State::kRunning);
  CHECK(container.pid == 7);
  CHECK(container.term_sent);
  CHECK(container.program == "python3");
  CHECK(container.started_at.ns == 20);

  (void)ledger.Add(
      {.type = PodEvent::Type::kContainerExited, .uid = "u", .container = "main", .exit_code = 3}, 30);
  container = Snapshot(ledger).pods[0].containers.at(0);
  CHECK(container.state == runtime::KeptContainer::State::kExited);
  CHECK(container.exit_code == 3);
  CHECK(container.started_at.ns == 20);
  CHECK(container.finished_at.ns == 30);

  ledger.OnStartContainer(Start(1));
  CHECK(Snapshot(ledger).pods[0].containers.at(0).state == runtime::KeptContainer::State::kStarting);
  ledger.OnStopPod("u");
  CHECK(Snapshot(ledger).pods[0].sandbox == runtime::KeptPod::Sandbox::kStopping);
  (void)ledger.Add({.type = PodEvent::Type::kPodStopped, .uid = "u"}, 40);
  kept = Snapshot(ledger);
  CHECK(kept.pods.empty());
  CHECK(kept.events.size() == 4);
  ledger.Acknowledge(3);
  CHECK(Snapshot(ledger).events.size() == 1);
  CHECK(Snapshot(ledger).events[0].sequence == 4);
}

}  // namespace
}  // namespace tfemu::supervisor
