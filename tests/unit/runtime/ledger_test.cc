// What is remembered for whoever takes the runtime over, and what of it survives the way over the wire.
#include "runtime/ledger.h"

#include <doctest/doctest.h>

#include <csignal>

#include "runtime/process/messages.h"

namespace tfemu::runtime {
namespace {

using State = KeptContainer::State;

ContainerLaunch Main(int attempt) { return {.name = "main", .attempt = attempt, .argv = {"python3"}}; }

Kept Told(const Ledger& ledger) {
  return process::Decode(process::Encode(ledger.Snapshot()), [](int64_t ns) { return Instant{ns}; });
}

TEST_CASE("a pod's state follows what was asked and what happened") {
  Ledger ledger;
  ledger.OnStartPod({.uid = "u", .address = "10.244.0.2"});
  ledger.OnStartContainer("u", Main(0));
  (void)ledger.Add({.type = PodEvent::Type::kSandboxReady, .uid = "u", .at = {10}});
  (void)ledger.Add(
      {.type = PodEvent::Type::kContainerStarted, .uid = "u", .container = "main", .pid = 7, .at = {20}});
  ledger.OnSignal("u", "main", SIGTERM);
  ledger.OnStartContainer("u", Main(0));  // asked twice: nothing is forgotten
  auto kept = Told(ledger);
  REQUIRE(kept.pods.size() == 1);
  CHECK(kept.taken_over);
  CHECK(kept.pods[0].address == "10.244.0.2");
  CHECK(kept.pods[0].sandbox == KeptPod::Sandbox::kReady);
  auto& container = kept.pods[0].containers.at(0);
  CHECK(container.state == State::kRunning);
  CHECK(container.pid == 7);
  CHECK(container.term_sent);
  CHECK(container.program == "python3");
  CHECK(container.started_at.ns == 20);

  (void)ledger.Add({.type = PodEvent::Type::kContainerExited,
                    .uid = "u",
                    .container = "main",
                    .exit_code = 3,
                    .at = {30}});
  container = Told(ledger).pods[0].containers.at(0);
  CHECK(container.state == State::kExited);
  CHECK(container.exit_code == 3);
  CHECK(container.started_at.ns == 20);
  CHECK(container.finished_at.ns == 30);

  ledger.OnStartContainer("u", Main(1));
  CHECK(Told(ledger).pods[0].containers.at(0).state == State::kStarting);
  ledger.OnStopPod("u");
  CHECK(Told(ledger).pods[0].sandbox == KeptPod::Sandbox::kStopping);
  (void)ledger.Add({.type = PodEvent::Type::kPodStopped, .uid = "u", .at = {40}});
  kept = Told(ledger);
  CHECK(kept.pods.empty());
  CHECK(kept.events.size() == 4);
  ledger.Acknowledge(3);
  REQUIRE(Told(ledger).events.size() == 1);
  CHECK(Told(ledger).events[0].sequence == 4);
  CHECK(Told(ledger).events[0].at.ns == 40);
}

TEST_CASE("a reading of a volume's use is told once, and numbers nothing") {
  Ledger ledger;
  CHECK(ledger.Add({.type = PodEvent::Type::kVolumeUsage, .uid = "u"}).sequence == 0);
  CHECK(ledger.Add({.type = PodEvent::Type::kPodStopped, .uid = "u"}).sequence == 1);
  CHECK(ledger.Snapshot().events.size() == 1);
}

}  // namespace
}  // namespace tfemu::runtime
