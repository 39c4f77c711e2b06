#include "emulator/daemon/gpu_watch.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "runtime/image/child.h"

namespace tfemu::daemon {
namespace {

// co_spawn hands back only what can be made from nothing, so the answer comes as text.
boost::asio::awaitable<std::string> Ask(std::string program) {
  std::string answer;
  image::ChildOptions options;
  options.argv = {std::move(program), "--probe-gpus"};
  options.on_line = [&answer](const std::string& line) { answer = line; };
  const Result<int> ended = co_await image::RunChild(std::move(options));
  co_return ended.ok() ? answer : gpu::ProbeText(ended.error());
}

}  // namespace

void GpuWatch::Start() {
  executor_.PostAt(executor_.Now() + period_, [this, alive = alive_] {
    if (*alive) Look();
  });
}

void GpuWatch::Look() {
  const auto done = [this, alive = alive_](std::exception_ptr failure, const std::string& answer) {
    if (!*alive) return;
    if (!failure) sink_(gpu::ParseProbe(answer));
    Start();
  };
  boost::asio::co_spawn(context_, Ask(program_), done);
}

}  // namespace tfemu::daemon
