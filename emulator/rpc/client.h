// The command line's end: blocking calls for short questions, streams whose messages arrive on the executor.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "emulator/base/executor.h"
#include "emulator/base/result.h"
#include "emulator/rpc/status.h"
#include "tfemu.grpc.pb.h"

namespace tfemu::rpc {

using Stub = v1::Cluster::Stub;

// A stream that is being received. The next message is fetched when the handler of the last has returned.
template <class Reply>
class ReadCall final : public grpc::ClientReadReactor<Reply> {
 public:
  struct Handlers {
    std::function<void(Reply&)> message;
    std::function<void(Result<void>)> done;  // last
  };
  ReadCall(Executor& executor, Handlers handlers) : executor_(executor), handlers_(std::move(handlers)) {}

  // `self` keeps the call alive until gRPC is done with it.
  void Begin(std::shared_ptr<ReadCall> self) {
    self_ = std::move(self);
    this->AddHold();
    this->StartRead(&reply_);
    this->StartCall();
  }
  void Cancel() { context_.TryCancel(); }
  grpc::ClientContext& context() { return context_; }

  void OnReadDone(bool ok) override {
    if (!ok) {
      this->RemoveHold();
      return;
    }
    executor_.Post([this, self = self_] {
      handlers_.message(reply_);
      reply_ = Reply();
      this->StartRead(&reply_);
    });
  }
  void OnDone(const grpc::Status& status) override {
    executor_.Post([self = std::move(self_), status] {
      self->handlers_.done(status.ok() ? Result<void>() : Result<void>(FromStatus(status)));
    });
  }

 private:
  Executor& executor_;
  Handlers handlers_;
  grpc::ClientContext context_;
  Reply reply_;
  std::shared_ptr<ReadCall> self_;
};

// Streams both ways. Write on the executor's thread; `written` says when what was queued has gone.
template <class Request, class Reply>
class DuplexCall final : public grpc::ClientBidiReactor<Request, Reply> {
 public:
  struct Handlers {
    std::function<void(Reply&)> message;
    std::function<void()> written = [] {};
    std::function<void(Result<void>)> done;
  };
  DuplexCall(Executor& executor, Handlers handlers) : executor_(executor), handlers_(std::move(handlers)) {}

  void Begin(std::shared_ptr<DuplexCall> self) {
    self_ = std::move(self);
    this->AddHold();
    this->StartRead(&reply_);
    this->StartCall();
  }
  void Write(Request request) {
    if (over_) return;
    queue_.push_back(std::move(request));
    Advance();
  }
  // No more writes; what is queued still goes.
  void CloseWrites() {
    closing_ = true;
    Advance();
  }
  size_t Queued() const { return queue_.size(); }
  void Cancel() { context_.TryCancel(); }
  grpc::ClientContext& context() { return context_; }

  void OnReadDone(bool ok) override {
    executor_.Post([this, self = self_, ok] {
      if (!ok) {
        over_ = true;
        this->RemoveHold();
        return;
      }
      handlers_.message(reply_);
      reply_ = Reply();
      this->StartRead(&reply_);
    });
  }
  void OnWriteDone(bool) override {
    executor_.Post([this, self = self_] {
      in_flight_ = false;
      queue_.pop_front();
      Advance();
      if (queue_.empty() && !over_) handlers_.written();
    });
  }
  void OnDone(const grpc::Status& status) override {
    executor_.Post([self = std::move(self_), status] {
      self->handlers_.done(status.ok() ? Result<void>() : Result<void>(FromStatus(status)));
    });
  }

 private:
  void Advance() {
    if (in_flight_ || over_) return;
    if (!queue_.empty()) {
      in_flight_ = true;
      this->StartWrite(&queue_.front());
    } else if (closing_ && !closed_) {
      closed_ = true;
      this->StartWritesDone();
    }
  }

  Executor& executor_;
  Handlers handlers_;
  grpc::ClientContext context_;
  Reply reply_;
  std::deque<Request> queue_;
  bool in_flight_ = false, over_ = false, closing_ = false, closed_ = false;
  std::shared_ptr<DuplexCall> self_;
};

using WatchCall = ReadCall<v1::WatchReply>;
using LogsCall = ReadCall<v1::LogsReply>;
using PrepareCall = ReadCall<v1::PrepareReply>;
using ExecCall = DuplexCall<v1::ExecInput, v1::ExecOutput>;
using PortCall = DuplexCall<v1::PortInput, v1::PortOutput>;

class Client {
 public:
  // kNotFound when nobody listens on the socket; `cluster` is for the message.
  static Result<std::unique_ptr<Client>> Connect(const std::string& socket_path, const std::string& cluster);
  explicit Client(std::shared_ptr<grpc::Channel> channel);

  // client.Call(&Stub::Get, request): blocks until the answer is there.
  template <class Request, class Reply>
  Result<Reply> Call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                     const Request& request) {
    grpc::ClientContext context;
    Reply reply;
    const grpc::Status status = (stub_.get()->*method)(&context, request, &reply);
    if (!status.ok()) return FromStatus(status);
    return reply;
  }

  std::shared_ptr<WatchCall> Watch(Executor& executor, const v1::WatchRequest& request,
                                   WatchCall::Handlers handlers);
  std::shared_ptr<LogsCall> Logs(Executor& executor, const v1::LogsRequest& request,
                                 LogsCall::Handlers handlers);
  std::shared_ptr<PrepareCall> PrepareImage(Executor& executor, const v1::FindImageRequest& request,
                                            PrepareCall::Handlers handlers);
  std::shared_ptr<ExecCall> Exec(Executor& executor, ExecCall::Handlers handlers);
  std::shared_ptr<PortCall> PortForward(Executor& executor, PortCall::Handlers handlers);

 private:
  template <class Call, class Request, class Start>
  std::shared_ptr<Call> Read(Executor& executor, const Request& request, typename Call::Handlers handlers,
                             Start start);

  std::unique_ptr<Stub> stub_;
};

}  // namespace tfemu::rpc
