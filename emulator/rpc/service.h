// The gRPC service: every handler only posts to the executor, where unary calls are answered and streams get
// a session.
#pragma once

#include <list>
#include <memory>

#include "emulator/rpc/backend.h"
#include "emulator/rpc/stream.h"
#include "tfemu.grpc.pb.h"

namespace tfemu::rpc {

class ClusterService final : public v1::Cluster::CallbackService {
 public:
  explicit ClusterService(const Backend& backend) : backend_(backend) {}

  // On the executor's thread: ends the open streams, and those that come later at once.
  void EndStreams(const grpc::Status& status);

  using Context = grpc::CallbackServerContext;
  using Unary = grpc::ServerUnaryReactor;
  Unary* Info(Context*, const v1::InfoRequest*, v1::InfoReply*) override;
  Unary* Shutdown(Context*, const v1::ShutdownRequest*, v1::ShutdownReply*) override;
  Unary* Write(Context*, const v1::WriteRequest*, v1::WriteReply*) override;
  Unary* Get(Context*, const v1::GetRequest*, v1::ObjectReply*) override;
  Unary* List(Context*, const v1::ListRequest*, v1::ListReply*) override;
  Unary* Delete(Context*, const v1::DeleteRequest*, v1::ObjectReply*) override;
  Unary* Scale(Context*, const v1::ScaleRequest*, v1::ObjectReply*) override;
  Unary* Top(Context*, const v1::TopRequest*, v1::TopReply*) override;
  Unary* ListImages(Context*, const v1::ListImagesRequest*, v1::ImagesReply*) override;
  Unary* FindImage(Context*, const v1::FindImageRequest*, v1::Image*) override;
  grpc::ServerWriteReactor<v1::WatchReply>* Watch(Context*, const v1::WatchRequest*) override;
  grpc::ServerWriteReactor<v1::LogsReply>* Logs(Context*, const v1::LogsRequest*) override;
  grpc::ServerWriteReactor<v1::PrepareReply>* PrepareImage(Context*, const v1::FindImageRequest*) override;
  grpc::ServerBidiReactor<v1::ExecInput, v1::ExecOutput>* Exec(Context*) override;
  grpc::ServerBidiReactor<v1::PortInput, v1::PortOutput>* PortForward(Context*) override;

 private:
  template <class Request, class Reply, class Answer>
  Unary* Answered(Context* context, const Request* request, Reply* reply, Answer answer);
  template <class Call>
  Call* Tracked(Call* call);
  void Track(std::weak_ptr<OpenCall> call);

  Backend backend_;
  std::list<std::weak_ptr<OpenCall>> calls_;
  std::unique_ptr<grpc::Status> ended_;
  bool shutting_down_ = false;
};

}  // namespace tfemu::rpc
