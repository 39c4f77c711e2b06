// One attempt of a container, from clone3 to the last byte of its log.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/supervisor/log_file.h"
#include "runtime/supervisor/pod_host.h"
#include "runtime/supervisor/started_process.h"
#include "runtime/supervisor/user.h"

namespace tfemu::supervisor {

class Container {
 public:
  // The rest of the launch is needed only for the start.
  Container(PodHost& host, const std::string& pod_uid, const runtime::ContainerLaunch& launch);

  struct Surroundings {
    const process::RootRequest& root;
    const process::PodNamespaces& namespaces;
    std::vector<std::string> environment;
    int process_namespace = -1;  // a pidfd inside it; -1: one of its own
  };
  // Every outcome is an event; `ended` comes after the last one.
  void Start(const Surroundings& surroundings, std::function<void()> ended);

  bool running() const { return process_.has_value(); }
  int attempt() const { return attempt_; }
  int pidfd() const { return process_->pidfd(); }
  void Signal(int signal);
  const std::vector<std::string>& environment() const { return environment_; }
  const std::string& working_dir() const { return working_dir_; }
  const Identity& identity() const { return identity_; }
  const std::string& cgroup_path() const { return cgroup_path_; }

 private:
  Result<void> TryStart(const Surroundings& surroundings);
  void OnFailed(const StartFailure& failure);
  void OnExited(const process::ExitStatus& status);
  void End();
  runtime::PodEvent Event(runtime::PodEvent::Type type) const;

  PodHost& host_;
  // So long as somebody holds them, no clean-up removes the layers of an image.
  std::vector<UniqueFd> layers_;
  std::string pod_uid_, name_, working_dir_, log_path_, cgroup_path_;
  std::string message_file_ = {};  // on this side of the mount
  bool message_from_log_, shared_processes_ = false;
  Identity identity_;
  int attempt_;
  runtime::Limits limits_;
  std::vector<std::string> environment_;
  int oom_kills_before_ = 0;
  std::optional<LogPump> log_;
  std::optional<StartedProcess> process_;
  std::function<void()> ended_;
};

}  // namespace tfemu::supervisor
