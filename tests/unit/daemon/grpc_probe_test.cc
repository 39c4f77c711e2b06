// Health checks of a real gRPC server on this host.
#include "emulator/daemon/grpc_probe.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>

namespace tfemu::daemon {
namespace {

using runtime::ProbeOutcome;

UniqueFd Connect(int port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return socket;
}

ProbeOutcome Ask(int port, const std::string& service) {
  runtime::ProbeRequest request;
  request.address = "127.0.0.1";
  request.service = service;
  request.timeout = std::chrono::seconds(20);
  std::promise<std::pair<ProbeOutcome, GrpcCall>> answer;
  ProbeGrpc(Connect(port), request, [&](const ProbeOutcome& outcome, GrpcCall call) {
    answer.set_value({outcome, std::move(call)});
  });
  return answer.get_future().get().first;
}

struct Server {
  explicit Server(bool healthy) {
    grpc::EnableDefaultHealthCheckService(healthy);
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(&anything);
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server = builder.BuildAndStart();
    REQUIRE(server != nullptr);
  }
  grpc::CallbackGenericService anything;  // knows no method
  int port = 0;
  std::unique_ptr<grpc::Server> server;
};

TEST_CASE("a gRPC probe believes the health service") {
  Server server(true);
  CHECK(Ask(server.port, "").success);
  server.server->GetHealthCheckService()->SetServingStatus("training", false);
  const ProbeOutcome sick = Ask(server.port, "training");
  CHECK_FALSE(sick.success);
  CHECK(sick.output == "service unhealthy (responded with \"NOT_SERVING\")");
  CHECK_FALSE(Ask(server.port, "unknown").success);
}

TEST_CASE("a server without a health service is called that") {
  Server server(false);
  const ProbeOutcome outcome = Ask(server.port, "");
  CHECK_FALSE(outcome.success);
  CHECK(outcome.output.find("does not implement the grpc health protocol") != std::string::npos);
}

}  // namespace
}  // namespace tfemu::daemon
