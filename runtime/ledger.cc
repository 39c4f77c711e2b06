#include "runtime/ledger.h"

#include <csignal>
#include <utility>

namespace tfemu::runtime {
namespace {

using Sandbox = KeptPod::Sandbox;
using State = KeptContainer::State;
using Type = PodEvent::Type;

}  // namespace

void Ledger::OnStartPod(const PodLaunch& launch) {
  KeptPod& facts = pods_[launch.uid].facts;
  if (!facts.uid.empty() && facts.sandbox != Sandbox::kFailed) return;
  facts.uid = launch.uid;
  facts.ns = launch.ns;
  facts.name = launch.name;
  facts.node = launch.node;
  facts.address = launch.address;
  facts.sandbox = Sandbox::kStarting;
}

void Ledger::OnStartContainer(const std::string& uid, const ContainerLaunch& launch) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const auto [place, fresh] = pod->second.containers.try_emplace(launch.name);
  if (!fresh && place->second.attempt >= launch.attempt) return;
  KeptContainer container;
  container.name = launch.name;
  container.attempt = launch.attempt;
  if (!launch.argv.empty()) container.program = launch.argv.front();
  place->second = std::move(container);
}

void Ledger::OnSignal(const std::string& uid, const std::string& container, int signal) {
  const auto pod = pods_.find(uid);
  if (signal != SIGTERM || pod == pods_.end()) return;
  const auto found = pod->second.containers.find(container);
  if (found != pod->second.containers.end()) found->second.term_sent = true;
}

void Ledger::OnStopPod(const std::string& uid) {
  if (const auto pod = pods_.find(uid); pod != pods_.end()) pod->second.facts.sandbox = Sandbox::kStopping;
}

PodEvent Ledger::Add(PodEvent event) {
  if (event.type == Type::kVolumeUsage) return event;
  event.sequence = ++last_sequence_;
  events_.push_back(event);
  Apply(event);
  return event;
}

void Ledger::Apply(const PodEvent& event) {
  const auto found = pods_.find(event.uid);
  if (found == pods_.end()) return;
  KeptPod& facts = found->second.facts;
  const bool stopping = facts.sandbox == Sandbox::kStopping;
  switch (event.type) {
    case Type::kPodStopped: pods_.erase(found); return;
    case Type::kSandboxReady:
      if (!stopping) facts.sandbox = Sandbox::kReady;
      return;
    case Type::kSandboxFailed:
      if (!stopping) facts.sandbox = Sandbox::kFailed;
      facts.reason = event.reason;
      facts.message = event.message;
      return;
    case Type::kVolumeUsage: return;
    case Type::kContainerStarted:
    case Type::kContainerStartFailed:
    case Type::kContainerExited: break;
  }
  const auto container = found->second.containers.find(event.container);
  if (container != found->second.containers.end() && container->second.attempt == event.attempt)
    ApplyTo(container->second, event);
}

void Ledger::ApplyTo(KeptContainer& container, const PodEvent& event) {
  if (event.type == Type::kContainerStarted) {
    container.state = State::kRunning;
    container.pid = event.pid;
    container.started_at = event.at;
    return;
  }
  if (container.state == State::kStarting) container.started_at = event.at;
  container.state = State::kExited;
  container.exit_code = event.exit_code;
  container.signal = event.signal;
  container.oom_killed = event.oom_killed;
  container.reason = event.reason;
  container.message = event.message;
  container.finished_at = event.at;
}

void Ledger::Acknowledge(uint64_t sequence) {
  while (!events_.empty() && events_.front().sequence <= sequence) events_.pop_front();
}

Kept Ledger::Snapshot() const {
  Kept kept;
  kept.taken_over = true;
  for (const auto& [uid, pod] : pods_) {
    KeptPod& out = kept.pods.emplace_back(pod.facts);
    for (const auto& [name, container] : pod.containers) out.containers.push_back(container);
  }
  kept.events.assign(events_.begin(), events_.end());
  return kept;
}

}  // namespace tfemu::runtime
