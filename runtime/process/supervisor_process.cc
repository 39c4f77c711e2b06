#include "runtime/process/supervisor_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <sstream>
#include <utility>

#include "emulator/io/unix_socket.h"
#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

constexpr int kChannelDescriptor = 3, kListenerDescriptor = 4;
constexpr int kDyingTimeoutMs = 10'000;

// Numbers of processes come back; with the time of the start they are unique until the next boot.
struct Identity {
  int pid = 0;
  std::string started, boot;
};

std::string BootId() {
  const auto text = ReadFile("/proc/sys/kernel/random/boot_id");
  return text.ok() ? text.value().substr(0, text.value().find('\n')) : "";
}

std::string StartOf(int pid) {
  const auto text = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!text.ok()) return "";
  std::istringstream fields(text.value().substr(text.value().rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field;) ++i;
  return field;
}

Identity ReadIdentity(const std::string& state_folder) {
  Identity identity;
  if (const auto text = ReadFile(SupervisorPidFile(state_folder)); text.ok())
    std::istringstream(text.value()) >> identity.pid >> identity.started >> identity.boot;
  return identity;
}

UniqueFd OpenPid(int pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

struct Descriptors {
  int channel, listener;
};

// In a copy of a process that may have threads: nothing here may allocate or take a lock. The state folder as
// its argument tells people, and tools, whose supervisor it is.
int RunSupervisor(const char* program, const char* const* argv, const Descriptors& fds) {
  ::setsid();  // a Ctrl-C in the daemon's terminal is the daemon's to handle
  // Out of the way of 3 and 4 first, whatever they are now.
  const int channel = ::fcntl(fds.channel, F_DUPFD, 5), listener = ::fcntl(fds.listener, F_DUPFD, 5);
  if (::dup2(channel, kChannelDescriptor) < 0 || ::dup2(listener, kListenerDescriptor) < 0) return 127;
  CloseOnExecFrom(kListenerDescriptor + 1);
  ::execv(program, const_cast<char* const*>(argv));
  constexpr char kProblem[] = "tfemud: cannot run tfemu-supervisor\n";
  (void)!::write(2, kProblem, sizeof kProblem - 1);
  return 127;
}

}  // namespace

std::string SupervisorSocket(const std::string& state_folder) { return state_folder + "/supervisor.sock"; }
std::string SupervisorPidFile(const std::string& state_folder) { return state_folder + "/supervisor.pid"; }

std::string HowSupervisorWasLost(const std::string& state_folder) {
  const Identity identity = ReadIdentity(state_folder);
  if (identity.pid == 0) return "";
  if (identity.boot != BootId()) return "the host was restarted";
  return "tfemu-supervisor was killed while no daemon ran";
}

Result<std::optional<SupervisorProcess::Started>> SupervisorProcess::Find(const std::string& state_folder) {
  Started found;
  auto socket = io::ConnectUnix(SupervisorSocket(state_folder));
  if (socket.ok()) {
    found.process.pid_ = io::PeerPid(socket.value());
    found.process.pidfd_ = OpenPid(found.process.pid_);
    found.socket = std::move(socket).value();
    if (!found.process.pidfd_.valid()) return SystemError("open the process of tfemu-supervisor");
    return std::optional(std::move(found));
  }
  if (socket.error().reason != Reason::kNotFound) return socket.error();
  // Its door is closed, but its pods may need a moment more.
  const Identity identity = ReadIdentity(state_folder);
  if (identity.pid == 0 || identity.boot != BootId()) return std::optional<Started>();
  found.process.pidfd_ = OpenPid(identity.pid);
  if (!found.process.pidfd_.valid() || StartOf(identity.pid) != identity.started)
    return std::optional<Started>();
  found.process.pid_ = identity.pid;
  found.process.AwaitEnd(kDyingTimeoutMs);
  return std::optional<Started>();
}

Result<SupervisorProcess::Started> SupervisorProcess::Start(const std::string& program,
                                                            const std::string& state_folder) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return SystemError("socketpair");
  Started started;
  started.socket.Reset(ends[0]);
  const UniqueFd theirs(ends[1]);
  ASSIGN_OR_RETURN(const UniqueFd listener, io::BindUnix(SupervisorSocket(state_folder)));
  const char* const argv[] = {"tfemu-supervisor", state_folder.c_str(), nullptr};
  const Descriptors descriptors{theirs.get(), listener.get()};
  ASSIGN_OR_RETURN(Child child, Clone({.namespaces = CLONE_NEWPID},
                                      [&] { return RunSupervisor(program.c_str(), argv, descriptors); }));
  started.process.pid_ = child.pid;
  started.process.pidfd_ = std::move(child.pidfd);
  started.process.child_ = true;
  RETURN_IF_ERROR(CreateFile(SupervisorPidFile(state_folder),
                             std::to_string(child.pid) + " " + StartOf(child.pid) + " " + BootId() + "\n",
                             0600));
  return started;
}

void SupervisorProcess::Terminate() const {
  if (pidfd_.valid()) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGTERM, nullptr, 0);
}

bool SupervisorProcess::AwaitEnd(int patience_ms) {
  if (!pidfd_.valid()) return true;
  pollfd wait{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  const auto poll = [&](int ms) {
    int ready = 0;
    do ready = ::poll(&wait, 1, ms);
    while (ready < 0 && errno == EINTR);
    return ready;
  };
  const bool ended = poll(patience_ms) != 0;
  if (!ended) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  if (child_) status_ = Reap(pidfd_.get());
  else if (!ended) poll(patience_ms);
  pidfd_.Reset();
  pid_ = 0;
  return ended;
}

}  // namespace tfemu::process
