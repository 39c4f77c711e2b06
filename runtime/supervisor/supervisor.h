// The supervisor's side of the conversation with the daemon: requests in, pods kept, events out. A daemon
// that is gone changes nothing for the pods; the next one is told all it needs to go on.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "emulator/io/asio_executor.h"
#include "runtime/ledger.h"
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
  // `channel` leads to the daemon that started this one; later ones come to `listener`.
  struct Doors {
    std::unique_ptr<process::Channel> channel;
    UniqueFd listener;
  };
  Supervisor(io::AsioExecutor& executor, Doors doors, Parts parts);

  // Says "ready" and serves until Shutdown is asked for; then `finished` is called.
  void Start(std::function<void()> finished);
  void FlushBlocking(int timeout_ms);
  // Stops every pod, then finishes.
  void Shutdown();

 private:
  using Descriptors = process::Channel::Descriptors;
  void Serve(process::Channel& channel);
  void OnConnection();
  void OnMessage(process::Channel& from, std::string_view body, Descriptors descriptors);
  void OnClosed(process::Channel& channel);
  void Greet(process::Channel& guest, const process::wire::Configure& configure);
  void Obey(process::wire::Request request, Descriptors descriptors);
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
  void Report(std::string text);
  void Answer(uint64_t id, const Result<int>& result);
  void AnswerSocket(uint64_t id, Result<UniqueFd> socket);

  std::unique_ptr<process::Channel> channel_;            // to the daemon; null while there is none
  std::list<std::unique_ptr<process::Channel>> guests_;  // have not said who they are
  uint64_t daemons_ = 1;                                 // so far: answers are for the one that asked
  Parts parts_;
  runtime::Ledger ledger_;  // its clock is the steady one
  process::FdWatch listener_;
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
