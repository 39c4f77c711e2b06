// What whoever takes a runtime over must be told: the state of every pod, and the events nobody has
// acknowledged. The supervisor and the simulated runtime keep the same one.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "runtime/runtime.h"

namespace tfemu::runtime {

// Instants are of whatever clock the events' are.
class Ledger {
 public:
  // What was asked for; an attempt that is known, or older than the known one, changes nothing.
  void OnStartPod(const PodLaunch& launch);
  void OnStartContainer(const std::string& uid, const ContainerLaunch& launch);
  void OnSignal(const std::string& uid, const std::string& container, int signal);
  void OnStopPod(const std::string& uid);
  // Numbers the event and keeps it until it is acknowledged; a reading of a volume's use is told once only.
  PodEvent Add(PodEvent event);
  void Acknowledge(uint64_t sequence);
  Kept Snapshot() const;

 private:
  struct Pod {
    KeptPod facts;  // without containers
    std::map<std::string, KeptContainer> containers;
  };
  void Apply(const PodEvent& event);
  static void ApplyTo(KeptContainer& container, const PodEvent& event);

  std::map<std::string, Pod> pods_;  // by uid
  std::deque<PodEvent> events_;
  uint64_t last_sequence_ = 0;
};

}  // namespace tfemu::runtime
