// What a daemon that comes new must be told: the state of every pod, and the events nobody has acknowledged.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "runtime/process/messages.h"

namespace tfemu::supervisor {

class Ledger {
 public:
  // What was asked for; an attempt that is known, or older than the known one, changes nothing.
  void OnStartPod(const process::wire::StartPod& message);
  void OnStartContainer(const process::wire::StartContainer& message);
  void OnSignal(const process::wire::SignalContainer& message);
  void OnStopPod(const std::string& uid);
  // Numbers the event and keeps it until it is acknowledged; a reading of a volume's use is told once only.
  process::wire::Event Add(const runtime::PodEvent& event, int64_t steady_ns);
  void Acknowledge(uint64_t sequence);
  process::wire::Ready Snapshot() const;

 private:
  struct Pod {
    process::wire::KeptPod facts;  // without containers
    std::map<std::string, process::wire::KeptContainer> containers;
  };
  void Apply(const process::wire::Event& event);
  static void ApplyTo(process::wire::KeptContainer& container, const process::wire::Event& event);

  std::map<std::string, Pod> pods_;  // by uid
  std::deque<process::wire::Event> events_;
  uint64_t last_sequence_ = 0;
};

}  // namespace tfemu::supervisor
