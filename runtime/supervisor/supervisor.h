// The supervisor's side of the conversation with the daemon: requests in, pods kept, events out.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "emulator/io/asio_executor.h"
#include "runtime/process/channel.h"
#include "runtime/process/messages.h"
#include "runtime/supervisor/pod.h"

namespace tfemu::supervisor {

class Supervisor {
 public:
  struct Parts {
    process::HomeNamespaces home;
    ClusterNetwork network;
    std::unique_ptr<process::CgroupDriver> cgroups;
    std::string scratch, disk;
  };
  Supervisor(io::AsioExecutor& executor, process::Channel& channel, Parts parts);

  // Says "ready" and serves until Shutdown is asked for or the daemon is gone; then `finished` is called.
  void Start(std::function<void()> finished);
  // Stops every pod, then finishes.
  void Shutdown();

 private:
  using Descriptors = process::Channel::Descriptors;
  void OnMessage(std::string_view body, Descriptors descriptors);
  void StartPod(process::wire::StartPod message);
  void StopPod(const std::string& uid);
  void Exec(process::wire::Exec message, Descriptors descriptors);
  void OpenSocket(const process::wire::OpenSocket& message);
  void OpenClusterSocket(const process::wire::OpenClusterSocket& message);
  void DiscardFolder(const process::wire::DiscardFolder& message);
  void Stop(Pod& pod, const std::string& uid);
  void OnPodGone(const std::string& uid);
  void WatchLinks();
  void OnLinks();
  void FinishWhenEmpty();
  Pod* Find(const std::string& uid);
  void Send(const process::wire::Reply& reply, Descriptors descriptors = {});
  void Answer(uint64_t id, const Result<int>& result);
  void AnswerSocket(uint64_t id, Result<UniqueFd> socket);

  process::Channel& channel_;
  Parts parts_;
  QuotaDisks quotas_;
  PodHost host_;
  process::FdWatch links_;  // open while a pod stops
  int stopping_ = 0;
  std::map<std::string, std::unique_ptr<Pod>> pods_;
  std::list<process::FdWatch> removers_;  // of folders
  std::function<void()> finished_;
  bool shutting_down_ = false;
};

}  // namespace tfemu::supervisor
