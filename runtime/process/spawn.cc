#include "runtime/process/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "emulator/base/strings.h"
#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {

namespace {

Result<Child> CloneHere(const CloneOptions& options, const std::function<int()>& child) {
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND | options.namespaces;
  args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  if (options.cgroup_fd >= 0) {
    args.flags |= CLONE_INTO_CGROUP;
    args.cgroup = static_cast<uint64_t>(options.cgroup_fd);
  }
  const long pid = ::syscall(SYS_clone3, &args, sizeof args);
  if (pid < 0) return SystemError("clone3");
  if (pid == 0) ::_exit(child());
  return Child{static_cast<pid_t>(pid), UniqueFd(pidfd)};
}

}  // namespace

// A process is born into the pid namespace that its parent has chosen for its children.
Result<Child> Clone(const CloneOptions& options, const std::function<int()>& child) {
  if (options.pid_namespace_of < 0) return CloneHere(options, child);
  const UniqueFd own(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  if (!own.valid()) return SystemError("open /proc/self/ns/pid");
  if (::setns(options.pid_namespace_of, CLONE_NEWPID)) return SystemError("enter the pid namespace");
  auto born = CloneHere(options, child);
  CHECK_THAT(::setns(own.get(), CLONE_NEWPID) == 0);
  return born;
}

pid_t HostPid(const Child& child) {
  const auto text = ReadFile("/proc/self/fdinfo/" + std::to_string(child.pidfd.get()));
  if (!text.ok()) return child.pid;
  const size_t at = text.value().find("Pid:");
  if (at == std::string::npos) return child.pid;
  const int pid = std::atoi(text.value().c_str() + at + 4);
  return pid > 0 ? pid : child.pid;
}

ExitStatus Reap(int pidfd) {
  siginfo_t info{};
  int failed = 0;
  do failed = ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info, WEXITED);
  while (failed && errno == EINTR);
  if (failed) return {.exit_code = 255};
  if (info.si_code == CLD_EXITED) return {.exit_code = info.si_status};
  return {.exit_code = 128 + info.si_status, .signal = info.si_status};
}

void CloseOnExecFrom(int first) {
  ::syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, CLOSE_RANGE_CLOEXEC);
}

void CloseFrom(int first) { ::syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0); }

int ExecSearching(const std::vector<std::string>& argv, const std::vector<std::string>& env,
                  const std::string& path) {
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
  };
  const auto arguments = pointers(argv), environment = pointers(env);
  if (argv[0].find('/') != std::string::npos) {
    ::execve(argv[0].c_str(), arguments.data(), environment.data());
    return errno;
  }
  int error = ENOENT;
  for (const auto& folder : Split(path, ':')) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + argv[0];
    ::execve(file.c_str(), arguments.data(), environment.data());
    if (errno != ENOENT && errno != ENOTDIR) error = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  return error;
}

}  // namespace tfemu::process
