// Server streams between two threads: gRPC's calls come in on its threads, sessions live on the executor's.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "emulator/base/executor.h"

namespace tfemu::rpc {

// What a session sees of its stream. All calls on the executor's thread; none after Finish.
template <class Response>
class StreamOut {
 public:
  virtual ~StreamOut() = default;
  virtual void Write(Response response) = 0;     // queued; see Queued
  virtual size_t Queued() const = 0;             // messages not yet handed to the transport
  virtual void Finish(grpc::Status status) = 0;  // after what is queued
  virtual void ReadNext() = 0;                   // asks for the peer's next message: once for each Received
};

// A call that the server ends when it goes down.
class OpenCall {
 public:
  virtual ~OpenCall() = default;
  virtual void End(const grpc::Status& status) = 0;
};

// The conversation of one call, on the executor's thread. It is dropped after Closed.
template <class Request, class Response>
class StreamSession {
 public:
  virtual ~StreamSession() = default;
  virtual void Opened(StreamOut<Response>& out) = 0;
  // Another message of the peer; the next comes after ReadNext. Only for bidirectional calls.
  virtual void Received(const Request&) {}
  virtual void PeerDone() {}  // the peer writes no more
  virtual void Drained() {}   // Queued() is 0 again
  virtual void Closed() = 0;  // cancelled or finished: touch `out` no more
};

// The part that both kinds of streams share. Reactor is gRPC's, with StartWrite and Finish.
template <class Request, class Response, class Reactor>
class StreamCore : public StreamOut<Response>,
                   public OpenCall,
                   public std::enable_shared_from_this<StreamCore<Request, Response, Reactor>> {
 public:
  using Session = StreamSession<Request, Response>;
  StreamCore(Executor& executor, std::shared_ptr<Session> session, Reactor* reactor)
      : executor_(executor), session_(std::move(session)), reactor_(reactor) {}

  // From any thread.
  template <class Step>
  void Post(Step step) {
    executor_.Post([self = this->shared_from_this(), step = std::move(step)] { step(*self); });
  }

  void Open() {
    if (finishing_) return;
    session_->Opened(*this);
    ReadNext();
  }
  void ReadDone(bool ok) {
    if (finishing_) return;
    if (ok) session_->Received(std::exchange(request_, Request()));
    else session_->PeerDone();
  }
  void Written(bool ok) {
    in_flight_ = false;
    queue_.pop_front();
    if (!ok) Cancel();
    else Advance();
  }
  void Cancel() {
    cancelled_ = true;
    End(grpc::Status::CANCELLED);
    Advance();
  }

  void End(const grpc::Status& status) override {
    if (finishing_) return;
    finishing_ = true;
    status_ = status;
    Drop();
    Advance();
  }
  void ReadNext() override {
    if constexpr (kReads)
      if (!finishing_) reactor_->StartRead(&request_);
  }
  void Write(Response response) override {
    if (finishing_) return;
    queue_.push_back(std::move(response));
    Advance();
  }
  size_t Queued() const override { return queue_.size(); }
  void Finish(grpc::Status status) override {
    if (finishing_) return;
    finishing_ = true;
    status_ = std::move(status);
    // The session may be the caller: it goes when the stack is unwound. Until then the task keeps this core
    // alive, which the reactor no longer does once it has finished.
    Post([](StreamCore& core) { core.Drop(); });
    Advance();
  }

 private:
  static constexpr bool kReads = requires(Reactor * r, Request* q) { r->StartRead(q); };

  void Drop() {
    if (auto session = std::move(session_)) session->Closed();
  }
  void Advance() {
    if (in_flight_ || reactor_ == nullptr) return;
    if (cancelled_) queue_.clear();
    if (!queue_.empty()) {
      in_flight_ = true;
      reactor_->StartWrite(&queue_.front());
      return;
    }
    // After Finish the reactor deletes itself whenever gRPC is done with it.
    if (finishing_) std::exchange(reactor_, nullptr)->Finish(status_);
    else session_->Drained();
  }

  Executor& executor_;
  std::shared_ptr<Session> session_;
  Reactor* reactor_;
  Request request_;
  std::deque<Response> queue_;
  bool in_flight_ = false, finishing_ = false, cancelled_ = false;
  grpc::Status status_;
};

// A call with one request and a stream of answers.
template <class Request, class Response>
class WriteCall final : public grpc::ServerWriteReactor<Response> {
 public:
  using Core = StreamCore<Request, Response, grpc::ServerWriteReactor<Response>>;
  WriteCall(Executor& executor, std::shared_ptr<typename Core::Session> session)
      : core_(std::make_shared<Core>(executor, std::move(session), this)) {}
  std::weak_ptr<OpenCall> core() const { return core_; }
  void Begin() {
    core_->Post([](Core& core) { core.Open(); });
  }

  void OnWriteDone(bool ok) override {
    core_->Post([ok](Core& core) { core.Written(ok); });
  }
  void OnCancel() override {
    core_->Post([](Core& core) { core.Cancel(); });
  }
  void OnDone() override { delete this; }

 private:
  std::shared_ptr<Core> core_;
};

// A call with streams both ways; one message of the peer is read at a time, the next when the session is
// ready.
template <class Request, class Response>
class BidiCall final : public grpc::ServerBidiReactor<Request, Response> {
 public:
  using Core = StreamCore<Request, Response, grpc::ServerBidiReactor<Request, Response>>;
  BidiCall(Executor& executor, std::shared_ptr<typename Core::Session> session)
      : core_(std::make_shared<Core>(executor, std::move(session), this)) {}
  std::weak_ptr<OpenCall> core() const { return core_; }
  void Begin() {
    core_->Post([](Core& core) { core.Open(); });
  }

  void OnReadDone(bool ok) override {
    core_->Post([ok](Core& core) { core.ReadDone(ok); });
  }
  void OnWriteDone(bool ok) override {
    core_->Post([ok](Core& core) { core.Written(ok); });
  }
  void OnCancel() override {
    core_->Post([](Core& core) { core.Cancel(); });
  }
  void OnDone() override { delete this; }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace tfemu::rpc
