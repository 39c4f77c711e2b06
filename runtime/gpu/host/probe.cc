// ProbeHostGpus: a driver that hangs must not take the daemon with it.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "emulator/base/unique_fd.h"
#include "runtime/gpu/host/host_gpus.h"

namespace tfemu::gpu {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void Answer(int pipe, const std::string& library) {
  const std::string text = ProbeText(ReadHostGpus(library));
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::write(pipe, text.data() + sent, text.size() - sent);
    if (n <= 0) break;
    sent += static_cast<size_t>(n);
  }
  ::_exit(0);  // the driver's own threads and handlers are not waited for
}

// What the child wrote until it ended; false when the time was over first.
bool ReadAll(int pipe, Clock::time_point deadline, std::string& text) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wait{pipe, POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) == 0) return false;
    char buffer[4096];
    const ssize_t n = ::read(pipe, buffer, sizeof buffer);
    if (n <= 0) return true;
    text.append(buffer, static_cast<size_t>(n));
  }
}

// A process that hangs inside the driver may not even die: it is waited for a little, then left to init.
void Bury(pid_t child, bool ended) {
  if (ended) {
    ::waitpid(child, nullptr, 0);
    return;
  }
  for (int i = 0; i < 50 && ::waitpid(child, nullptr, WNOHANG) == 0; ++i) ::usleep(10'000);
}

}  // namespace

std::string ProbeText(const Result<HostGpus>& gpus) {
  const nlohmann::json doc = gpus.ok() ? nlohmann::json{{"ok", Encode(gpus.value())}}
                                       : nlohmann::json{{"reason", static_cast<int>(gpus.error().reason)},
                                                        {"message", gpus.error().message},
                                                        {"hint", gpus.error().hint}};
  return doc.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<HostGpus> ParseProbe(const std::string& text) {
  const auto doc = nlohmann::json::parse(text, nullptr, false);
  if (doc.is_discarded())
    return Error{Reason::kUnavailable, "the NVIDIA driver broke the program that asked it for the GPUs",
                 "nvidia-smi and dmesg say more"};
  if (doc.contains("ok")) return Decode(doc["ok"]);
  return Error{static_cast<Reason>(doc.at("reason").get<int>()), doc.at("message"), doc.at("hint")};
}

Result<HostGpus> ProbeHostGpus(const std::string& library, int timeout_ms) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC)) return Error{Reason::kInternal, "no pipe for the GPU probe"};
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Error{Reason::kInternal, "cannot start the GPU probe"};
  if (child == 0) Answer(writing.get(), library);
  writing.Reset();
  std::string text;
  const bool answered = ReadAll(reading.get(), Clock::now() + std::chrono::milliseconds(timeout_ms), text);
  if (!answered) ::kill(child, SIGKILL);
  Bury(child, answered);
  if (!answered)
    return Error{
        Reason::kTimeout,
        "the NVIDIA driver did not answer within " + std::to_string(timeout_ms / 1000) + " s",
        "nvidia-smi hangs as well then: reset the GPU or restart the host; --gpus none, or virtual GPUs "
        "with --gpu-model, work without it"};
  return ParseProbe(text);
}

}  // namespace tfemu::gpu
