// Asks the driver again and again, in a process of its own, whether the host's GPUs are still what they were.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "emulator/io/asio_executor.h"
#include "runtime/gpu/host/host_gpus.h"

namespace boost::asio {
class io_context;
}

namespace tfemu::daemon {

class GpuWatch {
 public:
  using Sink = std::function<void(const Result<gpu::HostGpus>&)>;

  // `program` is this daemon, which answers --probe-gpus.
  GpuWatch(boost::asio::io_context& context, io::AsioExecutor& executor, std::string program, Sink sink)
      : context_(context), executor_(executor), program_(std::move(program)), sink_(std::move(sink)) {}
  void set_period(Duration period) { period_ = period; }
  ~GpuWatch() { *alive_ = false; }

  void Start();  // the first look comes after a period

 private:
  void Look();

  boost::asio::io_context& context_;
  io::AsioExecutor& executor_;
  std::string program_;
  Sink sink_;
  Duration period_ = std::chrono::seconds(15);
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::daemon
