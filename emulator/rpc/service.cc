#include "emulator/rpc/service.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "emulator/rpc/convert.h"
#include "emulator/rpc/exec_session.h"
#include "emulator/rpc/log_session.h"
#include "emulator/rpc/port_session.h"
#include "emulator/rpc/prepare_session.h"
#include "emulator/rpc/status.h"
#include "emulator/rpc/watch_session.h"

namespace tfemu::rpc {
namespace {

grpc::Status StatusOf(const Result<void>& result) {
  return result.ok() ? grpc::Status::OK : ToStatus(result.error());
}

Result<void> SetObject(const Result<api::Object>& object, v1::ObjectReply& reply) {
  if (!object.ok()) return object.error();
  reply.set_json(ToText(object.value()));
  return {};
}

Result<void> AnswerWrite(manager::Registry& registry, const v1::WriteRequest& request,
                         v1::WriteReply& reply) {
  const auto doc = api::Json::parse(request.json(), nullptr, /*allow_exceptions=*/false);
  if (!doc.is_object()) return Error{Reason::kBadRequest, "the manifest is not a JSON object"};
  const manager::WriteOptions options{request.strict(), request.dry_run()};
  ASSIGN_OR_RETURN(const auto written,
                   request.create() ? registry.Create(doc, options) : registry.Apply(doc, options));
  reply.set_outcome(static_cast<v1::WriteReply::Outcome>(written.outcome));
  reply.set_json(ToText(written.object));
  for (const auto& warning : written.warnings) {
    auto* entry = reply.add_warnings();
    entry->set_field(warning.field);
    entry->set_message(warning.message);
  }
  return {};
}

Result<void> AnswerList(manager::Registry& registry, const v1::ListRequest& request, v1::ListReply& reply) {
  ASSIGN_OR_RETURN(const auto selector, api::ParseSelector(request.selector()));
  const auto listing = registry.List({request.kind(), request.ns()}, selector);
  for (const auto& object : listing.objects) reply.add_json(ToText(object));
  reply.set_revision(listing.revision);
  return {};
}

}  // namespace

template <class Request, class Reply, class Answer>
ClusterService::Unary* ClusterService::Answered(Context* context, const Request* request, Reply* reply,
                                                Answer answer) {
  auto* reactor = context->DefaultReactor();
  backend_.executor.Post(
      [=, answer = std::move(answer)] { reactor->Finish(StatusOf(answer(*request, *reply))); });
  return reactor;
}

template <class Call>
Call* ClusterService::Tracked(Call* call) {
  backend_.executor.Post([this, core = call->core()] { Track(core); });
  call->Begin();
  return call;
}

void ClusterService::Track(std::weak_ptr<OpenCall> call) {
  std::erase_if(calls_, [](const auto& other) { return other.expired(); });
  if (const auto core = call.lock(); core != nullptr && ended_ != nullptr) core->End(*ended_);
  else calls_.push_back(std::move(call));
}

void ClusterService::EndStreams(const grpc::Status& status) {
  ended_ = std::make_unique<grpc::Status>(status);
  for (const auto& call : calls_)
    if (const auto core = call.lock()) core->End(status);
  calls_.clear();
}

ClusterService::Unary* ClusterService::Info(Context* context, const v1::InfoRequest* request,
                                            v1::InfoReply* reply) {
  return Answered(context, request, reply, [this](const auto&, auto& out) -> Result<void> {
    Fill(backend_.facts(), out);
    return {};
  });
}

ClusterService::Unary* ClusterService::Shutdown(Context* context, const v1::ShutdownRequest*,
                                                v1::ShutdownReply*) {
  auto* reactor = context->DefaultReactor();
  backend_.executor.Post([this, reactor] {
    // The second who asks does not wait for the first one's pods.
    if (std::exchange(shutting_down_, true)) reactor->Finish(grpc::Status::OK);
    else backend_.shutdown([reactor] { reactor->Finish(grpc::Status::OK); });
  });
  return reactor;
}

ClusterService::Unary* ClusterService::Write(Context* context, const v1::WriteRequest* request,
                                             v1::WriteReply* reply) {
  return Answered(context, request, reply,
                  [this](const auto& in, auto& out) { return AnswerWrite(backend_.registry, in, out); });
}

ClusterService::Unary* ClusterService::Get(Context* context, const v1::GetRequest* request,
                                           v1::ObjectReply* reply) {
  return Answered(context, request, reply, [this](const auto& in, auto& out) {
    return SetObject(backend_.registry.Get(FromMessage(in.key())), out);
  });
}

ClusterService::Unary* ClusterService::List(Context* context, const v1::ListRequest* request,
                                            v1::ListReply* reply) {
  return Answered(context, request, reply,
                  [this](const auto& in, auto& out) { return AnswerList(backend_.registry, in, out); });
}

ClusterService::Unary* ClusterService::Delete(Context* context, const v1::DeleteRequest* request,
                                              v1::ObjectReply* reply) {
  return Answered(context, request, reply, [this](const v1::DeleteRequest& in, auto& out) {
    manager::DeleteOptions options;
    if (in.has_grace_period_seconds()) options.grace_period_seconds = in.grace_period_seconds();
    options.propagation = static_cast<manager::Propagation>(in.propagation());
    return SetObject(backend_.registry.Delete(FromMessage(in.key()), options), out);
  });
}

ClusterService::Unary* ClusterService::Scale(Context* context, const v1::ScaleRequest* request,
                                             v1::ObjectReply* reply) {
  return Answered(context, request, reply, [this](const auto& in, auto& out) {
    return SetObject(backend_.registry.Scale(FromMessage(in.key()), in.replica_type(), in.replicas()), out);
  });
}

ClusterService::Unary* ClusterService::Top(Context* context, const v1::TopRequest* request,
                                           v1::TopReply* reply) {
  return Answered(context, request, reply, [this](const auto&, auto& out) -> Result<void> {
    Fill(backend_.use(), out);
    out.set_now_ns(backend_.executor.Now().ns);
    return {};
  });
}

ClusterService::Unary* ClusterService::ListImages(Context* context, const v1::ListImagesRequest* request,
                                                  v1::ImagesReply* reply) {
  return Answered(context, request, reply, [this](const auto&, auto& out) -> Result<void> {
    for (const auto& image : backend_.images.List())
      Fill(image, backend_.images.Ready(image), *out.add_images());
    return {};
  });
}

ClusterService::Unary* ClusterService::FindImage(Context* context, const v1::FindImageRequest* request,
                                                 v1::Image* reply) {
  return Answered(context, request, reply, [this](const auto& in, auto& out) -> Result<void> {
    ASSIGN_OR_RETURN(const auto image, backend_.images.Find(in.reference()));
    Fill(image, backend_.images.Ready(image), out);
    return {};
  });
}

grpc::ServerWriteReactor<v1::WatchReply>* ClusterService::Watch(Context*, const v1::WatchRequest* request) {
  return Tracked(new WriteCall<v1::WatchRequest, v1::WatchReply>(
      backend_.executor, std::make_shared<WatchSession>(backend_.registry, backend_.store, *request)));
}

grpc::ServerWriteReactor<v1::LogsReply>* ClusterService::Logs(Context*, const v1::LogsRequest* request) {
  return Tracked(new WriteCall<v1::LogsRequest, v1::LogsReply>(
      backend_.executor, std::make_shared<LogSession>(backend_, *request)));
}

grpc::ServerWriteReactor<v1::PrepareReply>* ClusterService::PrepareImage(
    Context*, const v1::FindImageRequest* request) {
  return Tracked(new WriteCall<v1::FindImageRequest, v1::PrepareReply>(
      backend_.executor, std::make_shared<PrepareSession>(backend_.images, request->reference())));
}

grpc::ServerBidiReactor<v1::ExecInput, v1::ExecOutput>* ClusterService::Exec(Context*) {
  return Tracked(new BidiCall<v1::ExecInput, v1::ExecOutput>(backend_.executor,
                                                             std::make_shared<ExecSession>(backend_)));
}

grpc::ServerBidiReactor<v1::PortInput, v1::PortOutput>* ClusterService::PortForward(Context*) {
  return Tracked(new BidiCall<v1::PortInput, v1::PortOutput>(backend_.executor,
                                                             std::make_shared<PortSession>(backend_)));
}

}  // namespace tfemu::rpc
