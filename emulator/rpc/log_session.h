// A stream of logs: the files of some containers, and with `follow` what is written to them and who joins
// later.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "emulator/api/view.h"
#include "emulator/rpc/backend.h"
#include "emulator/rpc/file_watch.h"
#include "emulator/rpc/log_source.h"
#include "emulator/rpc/pod_selection.h"
#include "emulator/rpc/stream.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {

class LogSession final : public StreamSession<v1::LogsRequest, v1::LogsReply>,
                         public std::enable_shared_from_this<LogSession> {
 public:
  LogSession(const Backend& backend, const v1::LogsRequest& request)
      : backend_(backend), request_(request), selection_(backend_.registry) {}

  void Opened(StreamOut<v1::LogsReply>& out) override;
  void Drained() override { Pump(); }
  void Closed() override;

 private:
  struct Reader {
    LogSource source;
    int id;
    bool announced = false;  // the client knows the present attempt
    bool opened = false;
    bool attempt_over = false;  // nothing more is written to the present file
    bool pod_over = false;      // no further attempt comes
    bool done = false;
  };

  Result<void> Begin();
  Result<void> AddPod(const api::PodView& pod);
  Result<void> AddKeptPod(const std::string& name);  // one that is gone but for its logs
  Result<void> AddReader(const api::PodView& pod, const api::ContainerView& container);
  void Update(const api::PodView& pod, bool gone);
  void OnEvent(const store::WatchEvent& event);
  void Open(Reader& reader);
  void Pump();
  bool Over();
  bool PumpReader(Reader& reader);  // true when it wrote something
  void EndAttempt(Reader& reader);
  void Send(Reader& reader, std::string bytes);
  bool Wanted(const api::PodView& pod, const api::ContainerView& container) const;
  JoinOptions Joining() const;

  Backend backend_;
  v1::LogsRequest request_;
  PodSelection selection_;
  StreamOut<v1::LogsReply>* out_ = nullptr;
  std::list<Reader> readers_;
  std::list<Reader>::iterator next_ = readers_.end();  // whose turn it is
  std::optional<store::WatchId> watch_;
  std::unique_ptr<FileWatch> files_;
  int next_id_ = 1;
  std::optional<TimerId> linger_;  // a job is over; pods that end with it get a moment for their last lines
  bool lingered_ = false;
};

}  // namespace tfemu::rpc
