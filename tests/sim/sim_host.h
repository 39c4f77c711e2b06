// A simulated host: a disk, a supervisor with its pods, and one daemon after another, each a whole control
// plane that may die at any moment.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/base/sim_executor.h"
#include "emulator/base/sim_process.h"
#include "emulator/manager/cluster.h"
#include "emulator/store/memory_store.h"
#include "tests/sim/gated_runtime.h"
#include "tests/sim/programs.h"
#include "tests/sim/sim_disk.h"
#include "tests/support/any_image.h"

namespace tfemu::sim {

inline constexpr Instant kEpoch{1'764'528'000'000'000'000};  // 2025-11-30T18:40:00Z

class SimHost {
 public:
  struct Options {
    uint64_t seed = 1;
    std::vector<api::Json> nodes;
    Duration downtime = std::chrono::milliseconds(500);  // from a daemon's death to the next one
    std::vector<Observer*> observers = {};
    runtime::ProbeRunner* probes = nullptr;
  };
  // What a user does. One that meets no daemon, a dying one or a full disk is done again, until it succeeds
  // or is refused for another reason; so it must be harmless to repeat.
  using Deed = std::function<Result<void>(manager::Registry&)>;

  explicit SimHost(Options options);
  ~SimHost();

  void Boot();
  void DoAt(Duration since_start, Deed deed);
  void At(Duration since_start, Task task) { executor_.PostAt(kEpoch + since_start, std::move(task)); }
  void KillDaemon();
  void FailSupervisor();
  // SIGTERM, or a reboot: daemon, supervisor and pods end.
  void Down();
  // The next boot is interrupted: it is brought to its end, and then everything ends.
  void TerminateNextStart() { terminate_start_ = true; }
  void set_downtime(Duration downtime) { options_.downtime = downtime; }
  void OnHostGpus(const Result<std::vector<api::Gpu>>& gpus);

  void RunUntil(Duration since_start);
  Duration now() const { return executor_.Now() - kEpoch; }

  SimExecutor& executor() { return executor_; }
  Gate& gate() { return gate_; }
  SimDisk& disk() { return disk_; }
  const SimDisk& disk() const { return disk_; }
  runtime::SimRuntime& runtime() { return runtime_; }
  const runtime::SimRuntime& runtime() const { return runtime_; }
  int boots() const { return boots_; }

 private:
  struct Daemon;
  void Guarded(const Task& act);
  void TryBoot();
  void BootLater();
  void Try(const Deed& deed);
  void WatchAsClient();
  void TellSettled();

  Options options_;
  SimExecutor executor_{kEpoch};
  Gate gate_;
  SimDisk disk_{gate_};
  Programs programs_;
  runtime::SimRuntime runtime_;
  test::AnyImage images_;
  std::unique_ptr<Daemon> daemon_;
  store::Revision client_revision_ = 0;  // of the last event the client's watch has seen
  int boots_ = 0;
  bool boot_pending_ = false, terminate_start_ = false;
};

}  // namespace tfemu::sim
