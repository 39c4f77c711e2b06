#include "emulator/rpc/server.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <thread>

#include "emulator/rpc/service.h"
#include "emulator/rpc/status.h"

namespace tfemu::rpc {
namespace {

// A manifest of 16 MiB of YAML is not much longer as JSON.
constexpr int kMaxReceiveBytes = 64 << 20;
// How long calls in flight may take to end after they were told to.
constexpr auto kShutdownPatience = std::chrono::seconds(1);

}  // namespace

struct Server::Running {
  explicit Running(const Backend& backend) : service(backend) {}
  ClusterService service;
  std::unique_ptr<grpc::Server> server;
  std::string socket_path;
  std::thread stopping;
};

Server::Server(const Backend& backend) : backend_(backend) {}

Server::~Server() {
  if (running_ != nullptr && running_->stopping.joinable()) running_->stopping.join();
}

Result<void> Server::Start(const std::string& socket_path) {
  auto running = std::make_unique<Running>(backend_);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxReceiveBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 0);
  if (!socket_path.empty()) {
    ::unlink(socket_path.c_str());
    builder.AddListeningPort("unix:" + socket_path, grpc::InsecureServerCredentials());
  }
  builder.RegisterService(&running->service);
  running->server = builder.BuildAndStart();
  if (running->server == nullptr)
    return Error{Reason::kUnavailable, "cannot listen on " + socket_path,
                 "is the folder writable and the path short?"};
  running->socket_path = socket_path;
  running_ = std::move(running);
  return {};
}

std::shared_ptr<grpc::Channel> Server::InProcessChannel() {
  return running_->server->InProcessChannel(grpc::ChannelArguments());
}

// grpc::Server::Shutdown waits for calls that may still need the executor, so it waits on a thread of its
// own.
void Server::Stop(std::function<void()> stopped) {
  running_->service.EndStreams(ToStatus(Error{Reason::kUnavailable, "the cluster is going down"}));
  running_->stopping = std::thread([this, stopped = std::move(stopped)] {
    running_->server->Shutdown(std::chrono::system_clock::now() + kShutdownPatience);
    if (!running_->socket_path.empty()) ::unlink(running_->socket_path.c_str());
    backend_.executor.Post(stopped);
  });
}

}  // namespace tfemu::rpc
