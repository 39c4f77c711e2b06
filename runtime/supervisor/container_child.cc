#include "runtime/supervisor/container_child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/process/files.h"
#include "runtime/process/root_builder.h"
#include "runtime/process/spawn.h"
#include "runtime/process/system_error.h"
#include "runtime/supervisor/user.h"

namespace tfemu::supervisor {
namespace {

using process::SystemError;

constexpr char kSeparator = '\0';

int Fail(int pipe, const StartFailure& failure) {
  const std::string packed = Pack(failure);
  (void)!::write(pipe, packed.data(), packed.size());
  return failure.exit_code;
}

int FailBeforeExec(int pipe, const Error& error) {
  return Fail(pipe, {.reason = "StartError", .message = error.message});
}

StartFailure ExecFailure(const std::string& program, int error) {
  const std::string quoted = "exec: \"" + program + "\": ";
  if (error == ENOENT && program.find('/') == std::string::npos)
    return {"StartError", quoted + "executable file not found in $PATH", 127};
  if (error == ENOENT) return {"StartError", quoted + "stat " + program + ": no such file or directory", 127};
  if (error == EACCES) return {"StartError", quoted + "permission denied", 128};
  if (error == ENOEXEC) return {"StartError", quoted + "exec format error", 128};
  return {"StartError", SystemError(quoted + "exec", error).message, 128};
}

Result<void> JoinCgroup(const process::CgroupDoor& door) {
  for (const auto& file : door.join_files) RETURN_IF_ERROR(process::WriteFile(file, "0"));
  return {};
}

Result<void> TakeStdio(int standard_input, int standard_output, int standard_error) {
  if (::dup2(standard_input, 0) < 0 || ::dup2(standard_output, 1) < 0 || ::dup2(standard_error, 2) < 0)
    return SystemError("dup2");
  return {};
}

Result<void> EnterWorkingDir(const std::string& folder) {
  if (folder.empty() || ::chdir(folder.c_str()) == 0) return {};
  if (errno == ENOENT) RETURN_IF_ERROR(process::MakeFolders(folder));
  if (::chdir(folder.c_str())) return SystemError("working directory " + folder);
  return {};
}

Result<void> EnterContainer(const ContainerStart& start) {
  ::setsid();
  RETURN_IF_ERROR(JoinCgroup(start.cgroup));
  RETURN_IF_ERROR(process::HomeNamespaces::Join(start.pod));
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  RETURN_IF_ERROR(TakeStdio(nothing.get(), start.standard_output, start.standard_error));
  ASSIGN_OR_RETURN(const auto steps, process::PlanRoot(start.root, process::KernelHostView()));
  RETURN_IF_ERROR(process::BuildRoot(start.stage, steps));
  return EnterWorkingDir(start.root.container.working_dir);
}

Result<void> JoinContainer(const ExecStart& start) {
  ::setsid();
  RETURN_IF_ERROR(JoinCgroup(start.cgroup));
  RETURN_IF_ERROR(TakeStdio(start.stdio[0], start.stdio[1], start.stdio[2]));
  if (start.tty) ::ioctl(0, TIOCSCTTY, 0);
  if (::setns(start.container_pidfd, CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC))
    return SystemError("enter the container");
  if (!start.working_dir.empty() && ::chdir(start.working_dir.c_str()))
    return SystemError("working directory " + start.working_dir);
  return {};
}

}  // namespace

Identity IdentityOf(const runtime::ContainerLaunch& launch) {
  return {launch.user, launch.groups, launch.privileges};
}

std::string Pack(const StartFailure& failure) {
  return std::to_string(failure.exit_code) + kSeparator + failure.reason + kSeparator + failure.message;
}

StartFailure Unpack(const std::string& packed) {
  const size_t reason = packed.find(kSeparator), message = packed.find(kSeparator, reason + 1);
  if (message == std::string::npos) return {"StartError", "the container ended before its program started"};
  return {packed.substr(reason + 1, message - reason - 1), packed.substr(message + 1),
          std::atoi(packed.c_str())};
}

int RunContainer(const ContainerStart& start) {
  const auto entered = EnterContainer(start);
  if (!entered.ok()) return FailBeforeExec(start.failure_pipe, entered.error());
  auto environment = start.environment;
  const auto became = BecomeUser(IdentityOf(start.root.container), environment);
  if (!became.ok()) return FailBeforeExec(start.failure_pipe, became.error());
  process::CloseOnExecFrom(3);
  const auto& argv = start.root.container.argv;
  const int error = process::ExecSearching(argv, environment, process::LookUp(environment, "PATH"));
  return Fail(start.failure_pipe, ExecFailure(argv[0], error));
}

int RunExec(const ExecStart& start) {
  const auto joined = JoinContainer(start);
  if (!joined.ok()) return FailBeforeExec(start.failure_pipe, joined.error());
  auto environment = start.environment;
  const auto became = BecomeUser(start.identity, environment);
  if (!became.ok()) return FailBeforeExec(start.failure_pipe, became.error());
  process::CloseOnExecFrom(3);
  const int error = process::ExecSearching(start.argv, environment, process::LookUp(environment, "PATH"));
  return Fail(start.failure_pipe, ExecFailure(start.argv[0], error));
}

}  // namespace tfemu::supervisor
