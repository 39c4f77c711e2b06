// Gives pods their ECI instance: which one they get, what it is called, what it costs.
#pragma once

#include <optional>
#include <string>

#include "emulator/base/rng.h"
#include "scheduler/eci.h"

namespace tfemu::manager {

class EciPlacer {
 public:
  EciPlacer(api::EciSettings settings, Rng rng, int64_t time_scale)
      : settings_(std::move(settings)), rng_(rng), time_scale_(time_scale) {}

  void Forget() { use_ = {}; }            // before what is taken is counted anew
  void Take(const api::ObjectMeta& pod);  // of a pod that holds an instance
  bool Wants(const api::Pod& pod, bool nodes_full) const {
    return scheduler::GoesToEci(settings_, pod, nodes_full);
  }

  struct Placement {
    std::string node;  // "" when there is none
    api::GpuShares gpus;
    api::Labels annotations;  // those that ECI adds to the pod
    std::string reason, message;
  };
  // Counts as taken what it gives.
  Placement Place(const scheduler::Snapshot& snapshot, const api::Pod& pod);

  // When a pod that finds no instance fails; a moment that has passed: now.
  Instant GivesUpAt(const api::Pod& pod) const;

 private:
  api::EciSettings settings_;
  Rng rng_;
  int64_t time_scale_;
  scheduler::EciUse use_;
};

}  // namespace tfemu::manager
