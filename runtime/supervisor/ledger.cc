#include "runtime/supervisor/ledger.h"

#include <csignal>

namespace tfemu::supervisor {
namespace {

using process::wire::KeptContainer;
using Sandbox = runtime::KeptPod::Sandbox;
using State = runtime::KeptContainer::State;
using Type = runtime::PodEvent::Type;

}  // namespace

void Ledger::OnStartPod(const process::wire::StartPod& message) {
  auto& facts = pods_[message.uid()].facts;
  if (!facts.uid().empty() && facts.sandbox() != static_cast<int>(Sandbox::kFailed)) return;
  facts.set_uid(message.uid());
  facts.set_ns(message.ns());
  facts.set_name(message.name());
  facts.set_node(message.node());
  facts.set_address(message.address());
  facts.set_sandbox(static_cast<int>(Sandbox::kStarting));
}

void Ledger::OnStartContainer(const process::wire::StartContainer& message) {
  const auto pod = pods_.find(message.uid());
  if (pod == pods_.end()) return;
  const auto [place, fresh] = pod->second.containers.try_emplace(message.name());
  if (!fresh && place->second.attempt() >= message.attempt()) return;
  KeptContainer container;
  container.set_name(message.name());
  container.set_attempt(message.attempt());
  if (message.argv_size() > 0) container.set_program(message.argv(0));
  place->second = std::move(container);
}

void Ledger::OnSignal(const process::wire::SignalContainer& message) {
  const auto pod = pods_.find(message.uid());
  if (message.signal() != SIGTERM || pod == pods_.end()) return;
  const auto container = pod->second.containers.find(message.container());
  if (container != pod->second.containers.end()) container->second.set_term_sent(true);
}

void Ledger::OnStopPod(const std::string& uid) {
  if (const auto pod = pods_.find(uid); pod != pods_.end())
    pod->second.facts.set_sandbox(static_cast<int>(Sandbox::kStopping));
}

process::wire::Event Ledger::Add(const runtime::PodEvent& event, int64_t steady_ns) {
  if (event.type == Type::kVolumeUsage) return process::Encode(event, steady_ns);
  events_.push_back(process::Encode(event, steady_ns));
  events_.back().set_sequence(++last_sequence_);
  Apply(events_.back());
  return events_.back();
}

void Ledger::Apply(const process::wire::Event& event) {
  const auto found = pods_.find(event.uid());
  if (found == pods_.end()) return;
  auto& facts = found->second.facts;
  const bool stopping = facts.sandbox() == static_cast<int>(Sandbox::kStopping);
  switch (static_cast<Type>(event.type())) {
    case Type::kPodStopped: pods_.erase(found); return;
    case Type::kSandboxReady:
      if (!stopping) facts.set_sandbox(static_cast<int>(Sandbox::kReady));
      return;
    case Type::kSandboxFailed:
      if (!stopping) facts.set_sandbox(static_cast<int>(Sandbox::kFailed));
      facts.set_reason(event.reason());
      facts.set_message(event.message());
      return;
    case Type::kVolumeUsage: return;
    case Type::kContainerStarted:
    case Type::kContainerStartFailed:
    case Type::kContainerExited: break;
  }
  const auto container = found->second.containers.find(event.container());
  if (container != found->second.containers.end() && container->second.attempt() == event.attempt())
    ApplyTo(container->second, event);
}

void Ledger::ApplyTo(KeptContainer& container, const process::wire::Event& event) {
  if (static_cast<Type>(event.type()) == Type::kContainerStarted) {
    container.set_state(static_cast<int>(State::kRunning));
    container.set_pid(event.pid());
    container.set_started_ns(event.steady_ns());
    return;
  }
  if (container.state() == static_cast<int>(State::kStarting)) container.set_started_ns(event.steady_ns());
  container.set_state(static_cast<int>(State::kExited));
  container.set_exit_code(event.exit_code());
  container.set_signal(event.signal());
  container.set_oom_killed(event.oom_killed());
  container.set_reason(event.reason());
  container.set_message(event.message());
  container.set_finished_ns(event.steady_ns());
}

void Ledger::Acknowledge(uint64_t sequence) {
  while (!events_.empty() && events_.front().sequence() <= sequence) events_.pop_front();
}

process::wire::Ready Ledger::Snapshot() const {
  process::wire::Ready ready;
  for (const auto& [uid, pod] : pods_) {
    auto& out = *ready.add_pods();
    out = pod.facts;
    for (const auto& [name, container] : pod.containers) *out.add_containers() = container;
  }
  for (const auto& event : events_) *ready.add_events() = event;
  return ready;
}

}  // namespace tfemu::supervisor
