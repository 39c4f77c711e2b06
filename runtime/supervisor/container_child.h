// What a container's process does between clone3 and exec. The supervisor has one thread, so this is ordinary
// code.
#pragma once

#include <string>
#include <vector>

#include "runtime/process/cgroup.h"
#include "runtime/process/mount_plan.h"
#include "runtime/process/namespaces.h"
#include "runtime/supervisor/user.h"

namespace tfemu::supervisor {

// What the parent reads when the child does not come to exec.
struct StartFailure {
  std::string reason;  // StartError, ContainerCannotRun
  std::string message;
  int exit_code = 128;
};
std::string Pack(const StartFailure& failure);
StartFailure Unpack(const std::string& packed);

Identity IdentityOf(const runtime::ContainerLaunch& launch);

struct ContainerStart {
  const process::RootRequest& root;
  const process::PodNamespaces& pod;
  const process::CgroupDoor& cgroup;
  std::string stage;  // a folder to build the root on
  std::vector<std::string> environment;
  int standard_output = -1, standard_error = -1;
  int failure_pipe = -1;  // closed by exec
};
// Comes back only when it failed, which the pipe knows by then.
int RunContainer(const ContainerStart& start);

struct ExecStart {
  int container_pidfd = -1;
  const process::CgroupDoor& cgroup;
  std::vector<std::string> argv, environment;
  std::string working_dir;
  Identity identity;
  int stdio[3] = {-1, -1, -1};
  bool tty = false;
  int failure_pipe = -1;
};
int RunExec(const ExecStart& start);

}  // namespace tfemu::supervisor
