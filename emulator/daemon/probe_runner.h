// Probes of real pods: a command in the container; a connection, an HTTP request or a gRPC call inside the
// pod's network.
#pragma once

#include "emulator/daemon/grpc_probe.h"
#include "emulator/daemon/http_probe.h"
#include "emulator/io/asio_executor.h"
#include "runtime/probe.h"
#include "runtime/runtime.h"

namespace tfemu::daemon {

class PodProbeRunner final : public runtime::ProbeRunner {
 public:
  PodProbeRunner(io::AsioExecutor& executor, runtime::PodAccess& access)
      : executor_(executor), access_(access) {}

  void Run(const runtime::ProbeRequest& request,
           std::function<void(const runtime::ProbeOutcome&)> done) override;

 private:
  using Done = std::function<void(const runtime::ProbeOutcome&)>;
  void Exec(const runtime::ProbeRequest& request, const Done& done);
  void Connect(const runtime::ProbeRequest& request, int hops, const Done& done);
  void OnAnswer(const runtime::ProbeRequest& request, const HttpAnswer& answer, int hops, const Done& done);
  std::function<void(const runtime::ProbeOutcome&, GrpcCall)> FromGrpc(const Done& done);

  io::AsioExecutor& executor_;
  runtime::PodAccess& access_;
};

}  // namespace tfemu::daemon
