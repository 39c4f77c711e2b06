#include "emulator/daemon/grpc_probe.h"

#include <grpc/support/time.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/grpcpp.h>

#include <memory>

#include "health.grpc.pb.h"

namespace tfemu::daemon {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckResponse;
using runtime::ProbeOutcome;

// The kubelet's words.
ProbeOutcome OutcomeOf(const grpc::Status& status, const HealthCheckResponse& response) {
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED)
    return {false,
            "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): " +
                status.error_message()};
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
    return {false, "error: timeout: health rpc did not complete within the timeout"};
  if (!status.ok()) return {false, "error: health rpc probe failed: " + status.error_message()};
  if (response.status() == HealthCheckResponse::SERVING) return {true, ""};
  return {false, "service unhealthy (responded with \"" +
                     HealthCheckResponse::ServingStatus_Name(response.status()) + "\")"};
}

struct Call {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Health::Stub> stub;
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckRequest request;
  HealthCheckResponse response;
};

}  // namespace

void ProbeGrpc(UniqueFd socket, const runtime::ProbeRequest& request,
               std::function<void(const ProbeOutcome&, GrpcCall)> done) {
  auto call = std::make_shared<Call>();
  call->channel = grpc::CreateInsecureChannelFromFd(request.address, socket.Release());
  call->stub = Health::NewStub(call->channel);
  call->request.set_service(request.service);
  // By gRPC's clock, so that a call nobody waits for any longer ends.
  call->context.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(request.timeout.count(), GPR_TIMESPAN)));
  Call& made = *call;
  made.stub->async()->Check(
      &made.context, &made.request, &made.response,
      [call = std::move(call), done = std::move(done)](const grpc::Status& status) mutable {
        const ProbeOutcome outcome = OutcomeOf(status, call->response);
        done(outcome, std::move(call));
      });
}

}  // namespace tfemu::daemon
