// Pods that follow a script on virtual time: nothing runs, everything is reported.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runtime/runtime.h"

namespace tfemu::runtime {

// What one attempt of a container does.
struct Script {
  std::optional<Duration> start_after = Duration(0);  // unset: it never gets to run
  std::optional<Duration> run_for = {};               // unset: until somebody ends it
  int exit_code = 0;
  bool ignores_sigterm = false;
};

class SimRuntime final : public Runtime {
 public:
  using Director = std::function<Script(const PodLaunch& pod, const ContainerLaunch& container)>;

  SimRuntime(Executor& executor, Director director) : executor_(executor), director_(std::move(director)) {}
  ~SimRuntime() override { *alive_ = false; }

  void StartPod(const PodLaunch& pod) override;
  void StartContainer(const std::string& uid, const ContainerLaunch& container) override;
  void SignalContainer(const std::string& uid, const std::string& container, int signal) override;
  void StopPod(const std::string& uid) override;
  void SetSink(PodEventSink sink) override { sink_ = std::move(sink); }
  void UpdateFiles(const std::string&, const std::string&, const std::vector<File>&) override {}
  void DiscardFolder(const std::string& folder, const std::string& aside) override {
    discarded_.emplace_back(folder, aside);
  }

  // For a test or a fault plan: the container ends now. Nothing happens when it does not run.
  void Exit(const std::string& uid, const std::string& container, int exit_code);
  // A volume of the pod holds so much.
  void Use(const std::string& uid, const std::string& volume, uint64_t used, uint64_t size) {
    PodEvent event{PodEvent::Type::kVolumeUsage, uid};
    event.volume = volume;
    event.used_bytes = used;
    event.size_bytes = size;
    Report(std::move(event));
  }
  const std::vector<std::pair<std::string, std::string>>& discarded() const { return discarded_; }
  const PodLaunch* Launched(const std::string& uid) const {
    const auto pod = pods_.find(uid);
    return pod == pods_.end() ? nullptr : &pod->second.launch;
  }
  // How often each attempt of each container was started; a checker wants ones.
  const std::map<std::string, int>& starts() const { return starts_; }

 private:
  struct Running {
    int attempt = 0;
    Script script;
  };
  struct Pod {
    PodLaunch launch;
    std::map<std::string, Running> running;
  };
  void Report(PodEvent event);
  void Later(Duration delay, std::function<void()> task);
  void Begin(const std::string& uid, const std::string& container, int attempt, const Script& script);
  void End(const std::string& uid, const std::string& container, int attempt, int exit_code);

  Executor& executor_;
  Director director_;
  PodEventSink sink_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, int> starts_;
  std::vector<std::pair<std::string, std::string>> discarded_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::runtime
