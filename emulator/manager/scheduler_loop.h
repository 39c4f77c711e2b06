// Binds pods that have no node, oldest first, and says why one waits.
#pragma once

#include <string>

#include "emulator/api/pod.h"
#include "emulator/base/executor.h"
#include "emulator/manager/eci_placer.h"
#include "emulator/manager/event_recorder.h"
#include "emulator/manager/registry.h"
#include "emulator/manager/volume_placement.h"
#include "emulator/store/store.h"
#include "scheduler/scheduler.h"

namespace tfemu::manager {

class SchedulerLoop {
 public:
  SchedulerLoop(Executor& executor, store::Store& store, Registry& registry, EventRecorder& events,
                EciPlacer eci);
  ~SchedulerLoop() { *alive_ = false; }

  void OnWatch(const store::WatchEvent& event);

 private:
  void Wake();  // one pass, however many events ask for it
  // Whether it was; what was refused and may yet be written is tried again in a while.
  bool Written(const Result<api::Object>& written);
  void Pass();
  void Place(scheduler::Snapshot& snapshot, const api::Pod& pod);
  // For a pod that has a node, and not yet what that must give it.
  void PlaceOnItsNode(scheduler::Snapshot& snapshot, const api::Pod& pod);
  void PlaceOnEci(scheduler::Snapshot& snapshot, const api::Pod& pod);
  struct Binding {
    std::string node;
    api::GpuShares gpus;
    api::Labels annotations;
  };
  void Bind(scheduler::Snapshot& snapshot, const api::Pod& pod, const Binding& binding);
  void WarnOfNccl(const api::Pod& pod, const scheduler::NodeState& node, const api::GpuShares& gpus);
  void Fail(const api::Pod& pod, const std::string& reason, const std::string& message,
            const std::string& node);
  void ReportWaiting(const api::Pod& pod, const std::string& message);
  bool WaitForVolumes(const VolumePlacement& volumes, const std::string& node);

  Executor& executor_;
  store::Store& store_;
  Registry& registry_;
  EventRecorder& events_;
  EciPlacer eci_;
  bool woken_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::manager
