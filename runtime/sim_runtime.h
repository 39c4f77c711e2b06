// Pods that follow a script on virtual time: nothing runs, everything is reported. As behind the real
// runtime, there is a supervisor that outlives its daemons.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ledger.h"
#include "runtime/runtime.h"

namespace tfemu::runtime {

// What one attempt of a container does.
struct Script {
  std::optional<Duration> start_after = Duration(0);  // unset: it never gets to run
  std::optional<Duration> run_for = {};               // unset: until somebody ends it
  int exit_code = 0;
  bool ignores_sigterm = false;
  std::string start_error = {};  // not empty: the program cannot be started, and this is why
};

// What becomes of a pod's sandbox. Containers that are ordered while it is made wait for it.
struct SandboxScript {
  Duration ready_after = Duration(0);
  std::string error = {};  // not empty: it cannot be made
  Duration gone_after = Duration(0);
};

class SimRuntime final : public Runtime {
 public:
  using Director = std::function<Script(const PodLaunch& pod, const ContainerLaunch& container)>;
  struct Container {
    ContainerLaunch launch;
    KeptContainer::State state = KeptContainer::State::kStarting;
    Script script;
  };
  struct Pod {
    PodLaunch launch;
    KeptPod::Sandbox sandbox = KeptPod::Sandbox::kStarting;
    SandboxScript script;
    std::map<std::string, Container> containers;
  };
  // Optional directions; a witness sees each event when it happens, before any daemon is told.
  struct Directions {
    std::function<SandboxScript(const PodLaunch&)> sandbox;
    std::function<Duration()> event_delay;  // on the way to the daemon; the order is kept
    std::function<void(const PodEvent&)> witness;
  };

  SimRuntime(Executor& executor, Director director) : executor_(executor), director_(std::move(director)) {}
  ~SimRuntime() override { *alive_ = false; }
  Directions& directions() { return directions_; }

  void StartPod(const PodLaunch& pod) override;
  void StartContainer(const std::string& uid, const ContainerLaunch& container) override;
  void SignalContainer(const std::string& uid, const std::string& container, int signal) override;
  void StopPod(const std::string& uid) override;
  void SetSink(PodEventSink sink) override { sink_ = std::move(sink); }
  Kept TakeOver() override;
  void Acknowledge(uint64_t sequence) override { ledger_.Acknowledge(sequence); }
  void UpdateFiles(const std::string&, const std::string&, const std::vector<File>&) override {}
  void DiscardFolder(const std::string& folder, const std::string& aside) override {
    discarded_.emplace_back(folder, aside);
  }

  // The daemon is dead: what was on its way to it is lost, pods go on, the next one is told by TakeOver().
  void LoseDaemon();
  // The supervisor is dead, and every pod with it; `told` runs when a daemon notices, after the events that
  // were on their way. Until Restart() orders go nowhere.
  void Fail(std::function<void()> told);
  void Restart();

  // For a test or a fault plan: the container ends now. Nothing happens when it does not run.
  void Exit(const std::string& uid, const std::string& container, int exit_code);
  // A volume of the pod holds so much.
  void Use(const std::string& uid, const std::string& volume, uint64_t used, uint64_t size);

  const std::vector<std::pair<std::string, std::string>>& discarded() const { return discarded_; }
  const PodLaunch* Launched(const std::string& uid) const;
  // By uid; those of which something is left.
  const std::map<std::string, Pod>& pods() const { return pods_; }
  // How often each attempt of each container was started ("uid/container/attempt"); a checker wants ones.
  const std::map<std::string, int>& starts() const { return starts_; }
  // Orders to start a container of which an earlier attempt still ran.
  int overlaps() const { return overlaps_; }
  int in_flight() const { return in_flight_; }  // events that the daemon has not been told yet

 private:
  void Report(PodEvent event);
  void Deliver(std::function<void()> tell);
  void Later(Duration delay, std::function<void()> task);
  Container* Find(const std::string& uid, const std::string& container, int attempt);
  void SandboxDone(const std::string& uid);
  void Launch(const std::string& uid, Container& container);
  void Begin(const std::string& uid, const std::string& container, int attempt);
  void End(const std::string& uid, Container& container, int exit_code);
  void FailStart(const std::string& uid, Container& container, const std::string& why);

  Executor& executor_;
  Director director_;
  Directions directions_;
  PodEventSink sink_;
  Ledger ledger_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, int> starts_;
  std::vector<std::pair<std::string, std::string>> discarded_;
  bool running_ = true;
  bool fresh_ = true;        // no daemon has taken this supervisor over yet
  uint64_t connection_ = 0;  // what was sent to an earlier one is lost
  uint64_t life_ = 0;        // of the supervisor; timers of an earlier one mean nothing
  Instant last_delivery_;
  int overlaps_ = 0, in_flight_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::runtime
