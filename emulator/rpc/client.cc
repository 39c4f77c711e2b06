#include "emulator/rpc/client.h"

#include <grpcpp/create_channel.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "emulator/base/unique_fd.h"

namespace tfemu::rpc {
namespace {

Error NotRunning(const std::string& cluster) {
  return Error{Reason::kNotFound, "the cluster \"" + cluster + "\" is not running",
               "start it: tfemu up" + (cluster == "default" ? "" : " --cluster " + cluster)};
}

// gRPC would retry and report in its own words; the socket itself knows at once.
Result<void> Probe(const std::string& socket_path, const std::string& cluster) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return NotRunning(cluster);
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {};
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR) return NotRunning(cluster);
  return Error{errno == EACCES ? Reason::kForbidden : Reason::kUnavailable,
               "cannot reach the cluster \"" + cluster + "\" at " + socket_path + ": " + std::strerror(errno),
               errno == EACCES ? "it was started by another user" : ""};
}

}  // namespace

Result<std::unique_ptr<Client>> Client::Connect(const std::string& socket_path, const std::string& cluster) {
  RETURN_IF_ERROR(Probe(socket_path, cluster));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return std::make_unique<Client>(
      grpc::CreateCustomChannel("unix:" + socket_path, grpc::InsecureChannelCredentials(), arguments));
}

Client::Client(std::shared_ptr<grpc::Channel> channel) : stub_(v1::Cluster::NewStub(channel)) {}

template <class Call, class Request, class Start>
std::shared_ptr<Call> Client::Read(Executor& executor, const Request& request,
                                   typename Call::Handlers handlers, Start start) {
  auto call = std::make_shared<Call>(executor, std::move(handlers));
  start(&call->context(), &request, call.get());
  call->Begin(call);
  return call;
}

std::shared_ptr<WatchCall> Client::Watch(Executor& executor, const v1::WatchRequest& request,
                                         WatchCall::Handlers handlers) {
  return Read<WatchCall>(executor, request, std::move(handlers),
                         [this](auto... arguments) { stub_->async()->Watch(arguments...); });
}

std::shared_ptr<LogsCall> Client::Logs(Executor& executor, const v1::LogsRequest& request,
                                       LogsCall::Handlers handlers) {
  return Read<LogsCall>(executor, request, std::move(handlers),
                        [this](auto... arguments) { stub_->async()->Logs(arguments...); });
}

std::shared_ptr<PrepareCall> Client::PrepareImage(Executor& executor, const v1::FindImageRequest& request,
                                                  PrepareCall::Handlers handlers) {
  return Read<PrepareCall>(executor, request, std::move(handlers),
                           [this](auto... arguments) { stub_->async()->PrepareImage(arguments...); });
}

std::shared_ptr<ExecCall> Client::Exec(Executor& executor, ExecCall::Handlers handlers) {
  auto call = std::make_shared<ExecCall>(executor, std::move(handlers));
  stub_->async()->Exec(&call->context(), call.get());
  call->Begin(call);
  return call;
}

std::shared_ptr<PortCall> Client::PortForward(Executor& executor, PortCall::Handlers handlers) {
  auto call = std::make_shared<PortCall>(executor, std::move(handlers));
  stub_->async()->PortForward(&call->context(), call.get());
  call->Begin(call);
  return call;
}

}  // namespace tfemu::rpc
