// clone3, and the exit of what it made as an awaitable.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "emulator/base/result.h"
#include "runtime/process/fd_watch.h"

namespace tfemu::process {

struct Child {
  pid_t pid = 0;  // in the caller's pid namespace
  UniqueFd pidfd;
};

struct CloneOptions {
  uint64_t namespaces = 0;  // CLONE_NEW*
  int cgroup_fd = -1;       // a cgroup2 folder to be born in
  // A pidfd: the child is born into the pid namespace of that process, which lives.
  int pid_namespace_of = -1;
};

// Runs `child` in a copy of this process, which must have one thread; what it returns becomes the exit code.
Result<Child> Clone(const CloneOptions& options, const std::function<int()>& child);

// The number that the reader of /proc sees, which differs from ours inside a pid namespace.
pid_t HostPid(const Child& child);

// As wait() reports it: exit_code is 128+n for a signal.
struct ExitStatus {
  int exit_code = 0;
  int signal = 0;
};
// Reaps; the child must have ended (the pidfd is readable) or the call blocks.
ExitStatus Reap(int pidfd);

// For the child, before exec: descriptors from `first` on do not survive it.
void CloseOnExecFrom(int first);
void CloseFrom(int first);  // at once

// For the child: execve `argv[0]`, looked up on `path` when it has no slash. Returns errno.
int ExecSearching(const std::vector<std::string>& argv, const std::vector<std::string>& env,
                  const std::string& path);

}  // namespace tfemu::process
