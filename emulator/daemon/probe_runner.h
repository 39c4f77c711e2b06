// Probes of real pods: a command in the container, a connection or an HTTP request inside the pod's network.
#pragma once

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
  void Connect(const runtime::ProbeRequest& request, const Done& done);

  io::AsioExecutor& executor_;
  runtime::PodAccess& access_;
};

}  // namespace tfemu::daemon
