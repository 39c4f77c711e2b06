#include "runtime/supervisor/started_process.h"

#include <signal.h>
#include <sys/syscall.h>

#include <utility>

namespace tfemu::supervisor {

StartedProcess::StartedProcess(boost::asio::io_context& context, process::Child child, UniqueFd failure_pipe)
    : host_pid_(process::HostPid(child)) {
  pidfd_ = process::FdWatch(context, std::move(child.pidfd));
  pipe_ = process::FdWatch(context, std::move(failure_pipe));
}

void StartedProcess::Watch(Listener listener) {
  listener_ = std::move(listener);
  pipe_.WaitReadable([this] { OnPipe(); });
  pidfd_.WaitReadable([this] { OnExit(); });
}

void StartedProcess::Signal(int signal) { ::syscall(SYS_pidfd_send_signal, pidfd_.fd(), signal, nullptr, 0); }

bool StartedProcess::Settle() {
  if (std::exchange(settled_, true)) return !failed_;
  char buffer[4096];
  for (ssize_t got; (got = ::read(pipe_.fd(), buffer, sizeof buffer)) != 0;) {
    if (got > 0) failure_.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  pipe_.Close();
  failed_ = !failure_.empty();
  return !failed_;
}

// The pipe closes at exec; when it holds a reason, the child is about to end.
void StartedProcess::OnPipe() {
  if (!settled_ && Settle()) listener_.executed();
}

void StartedProcess::OnExit() {
  const bool knew = settled_;
  const bool executed = Settle();
  const auto listener = std::move(listener_);  // the last call may destroy this object
  const auto status = process::Reap(pidfd_.fd());
  pidfd_.Close();
  if (!executed) {
    listener.failed(Unpack(failure_));
    return;
  }
  if (!knew) listener.executed();
  listener.exited(status);
}

}  // namespace tfemu::supervisor
