// A pod: namespaces, link, volumes and cgroup of its sandbox, and the containers inside.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "runtime/supervisor/container.h"
#include "runtime/supervisor/pod_volumes.h"
#include "runtime/supervisor/process_namespace.h"
#include "runtime/supervisor/volume_usage.h"

namespace tfemu::supervisor {

class Pod {
 public:
  Pod(PodHost& host, runtime::PodLaunch launch);

  void Start();  // emits kSandboxReady or kSandboxFailed
  void StartContainer(const runtime::ContainerLaunch& launch);
  void SignalContainer(const std::string& container, int signal);
  // Emits kPodStopped and calls `gone`, from the loop, when nothing is left.
  void Stop(std::function<void()> gone);
  void UpdateFiles(const std::string& volume, const std::vector<runtime::File>& files);
  // To be called when a link of the cluster came or went.
  void OnLinkChange() { TryFinish(); }
  // Its sandbox could not be made; another attempt is a new Pod.
  bool failed() const { return started_ && !ready_ && !stopping_; }
  bool stopping() const { return stopping_; }

  using ExecDone = std::function<void(Result<int>)>;
  void Exec(runtime::ExecLaunch launch, ExecDone done);
  Result<UniqueFd> OpenSocket();

 private:
  struct ExecSession {
    std::optional<StartedProcess> process;
    ExecDone done;
  };
  Result<void> MakeSandbox();
  Result<void> TryExec(runtime::ExecLaunch& launch, ExecSession& session);
  void EndExec(std::list<ExecSession>::iterator session, Result<int> result);
  void OnContainerEnded();
  void Release();
  void RemoveFolders();
  void TryFinish();
  bool CgroupsGone();
  void Later(Duration delay, Task task);
  bool AnythingRuns() const;

  PodHost& host_;
  runtime::PodLaunch launch_;
  PodVolumes volumes_;
  VolumeUsage usage_;
  process::PodNamespaces namespaces_;
  ProcessNamespace processes_;  // when the containers share one
  LinkIndex link_ = 0;
  bool started_ = false, ready_ = false;
  std::map<std::string, std::unique_ptr<Container>> containers_;
  std::list<ExecSession> execs_;

  std::function<void()> gone_;
  bool stopping_ = false, released_ = false, link_overdue_ = false;
  int cgroup_tries_ = 0;
  std::optional<StartedProcess> remover_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::supervisor
