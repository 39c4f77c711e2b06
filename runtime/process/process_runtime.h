// The daemon's side: pods as real processes, in the hands of one tfemu-supervisor.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "emulator/io/asio_executor.h"
#include "runtime/process/channel.h"
#include "runtime/process/supervisor_process.h"
#include "runtime/runtime.h"

namespace tfemu::process {

namespace wire {
class Request;
}

class ProcessRuntime final : public runtime::Runtime, public runtime::PodAccess {
 public:
  struct Options {
    std::string state_folder;                          // absolute; logs and what pods write to disk
    std::string cluster;                               // its name, for the cgroup folder
    std::string supervisor_program;                    // path of tfemu-supervisor
    std::function<void(const std::string&)> log = {};  // sentences for people
  };
  // Room for the supervisor's death, with which its pods died.
  using LostHandler = std::function<void(const std::string& why)>;

  ProcessRuntime(io::AsioExecutor& executor, Options options);
  ~ProcessRuntime() override;  // as Shutdown

  // Takes over the supervisor that a former daemon left, else starts one and blocks for the few milliseconds
  // until it is ready. Once the supervisor is lost, this may be called again.
  Result<void> Start();
  // How the supervisor before a fresh one was lost with its pods; "": there was none, or it ended in order.
  const std::string& lost_before() const { return lost_before_; }
  void SetLostHandler(LostHandler lost) { lost_ = std::move(lost); }
  // Blocks until every pod, the supervisor and the cgroups are gone. Events that come meanwhile are dropped.
  void Shutdown();
  // Leaves the supervisor and its pods to whoever comes next, as a crash of this process would.
  void Abandon();
  // Instead of Start: ends a supervisor that is there, of any version, and removes what it leaves.
  Result<void> Sweep();

  void StartPod(const runtime::PodLaunch& pod) override;
  void StartContainer(const std::string& uid, const runtime::ContainerLaunch& container) override;
  void SignalContainer(const std::string& uid, const std::string& container, int signal) override;
  void StopPod(const std::string& uid) override;
  void SetSink(runtime::PodEventSink sink) override { sink_ = std::move(sink); }
  void UpdateFiles(const std::string& uid, const std::string& volume,
                   const std::vector<runtime::File>& files) override;
  void DiscardFolder(const std::string& folder, const std::string& aside) override;
  runtime::Kept TakeOver() override { return std::exchange(kept_, {}); }
  bool taken_over() const { return kept_.taken_over; }  // until TakeOver
  void Acknowledge(uint64_t sequence) override;

  void Exec(const std::string& uid, runtime::ExecLaunch launch,
            std::function<void(Result<int>)> done) override;
  using SocketDone = std::function<void(Result<UniqueFd>)>;
  void OpenSocket(const std::string& uid, SocketDone done) override;

  struct ClusterSocket {
    std::string address;  // added to the cluster's loopback when absent
    uint16_t port = 0;
    bool udp = false;  // else TCP, listening
  };
  // A bound, non-blocking socket in the cluster's network namespace, where every pod can reach it.
  void OpenClusterSocket(const ClusterSocket& socket, SocketDone done);

  int supervisor_pid() const { return supervisor_.pid(); }  // 0: not running
  // Of this cluster's folder in each cgroup hierarchy.
  std::string CgroupName() const;

 private:
  struct Pending {
    std::function<void(Result<int>)> exec = {};
    SocketDone socket = {};
  };
  Result<bool> TakeOverRunning();
  Result<void> StartFresh();
  Result<void> Handshake();
  Instant AtSteady(int64_t steady_ns) const;
  void OnMessage(std::string_view body, Channel::Descriptors descriptors);
  void OnClosed();
  void Send(const wire::Request& request, Channel::Descriptors descriptors = {});
  void Ask(wire::Request request, Pending pending, Channel::Descriptors descriptors = {});
  static void Complete(Pending pending, const Result<int>& result, UniqueFd socket);
  void FailPending(const std::string& why);
  void CleanUp();
  void Log(const std::string& text) const;

  io::AsioExecutor& executor_;
  Options options_;
  std::unique_ptr<Channel> channel_;
  SupervisorProcess supervisor_;
  runtime::Kept kept_;
  std::string lost_before_;
  runtime::PodEventSink sink_;
  LostHandler lost_;
  uint64_t next_id_ = 1;
  std::map<uint64_t, Pending> pending_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::process
