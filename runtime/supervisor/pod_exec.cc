// Exec: a process that is born into the pid namespace of a container and then enters the rest.
#include <fcntl.h>

#include <utility>

#include "runtime/process/system_error.h"
#include "runtime/supervisor/pod.h"

namespace tfemu::supervisor {

void Pod::Exec(runtime::ExecLaunch launch, ExecDone done) {
  const auto session = execs_.insert(execs_.end(), ExecSession{});
  session->done = std::move(done);
  const auto started = TryExec(launch, *session);
  if (!started.ok()) {
    EndExec(session, started.error());
    return;
  }
  session->process->Watch(
      {.executed = [] {},
       .failed =
           [this, session](const StartFailure& failure) {
             if (failure.exit_code == 127) EndExec(session, 127);
             else EndExec(session, Error{Reason::kInvalid, failure.message});
           },
       .exited = [this, session](const process::ExitStatus& status) { EndExec(session, status.exit_code); }});
}

Result<void> Pod::TryExec(runtime::ExecLaunch& launch, ExecSession& session) {
  const auto found = containers_.find(launch.container);
  if (found == containers_.end())
    return Error{Reason::kNotFound,
                 "container " + launch.container + " is not valid for pod " + launch_.name};
  const Container& container = *found->second;
  if (!container.running() || stopping_)
    return Error{Reason::kUnavailable, "container " + launch.container + " is not running"};
  if (launch.argv.empty()) return Error{Reason::kInvalid, "no command specified"};
  ASSIGN_OR_RETURN(const process::CgroupDoor cgroup, host_.cgroups.Open(container.cgroup_path()));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC)) return process::SystemError("pipe");
  UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  auto environment = container.environment();
  if (launch.tty && process::LookUp(environment, "TERM").empty()) environment.push_back("TERM=xterm");
  const ExecStart start{.container_pidfd = container.pidfd(),
                        .cgroup = cgroup,
                        .argv = std::move(launch.argv),
                        .environment = std::move(environment),
                        .working_dir = container.working_dir(),
                        .identity = container.identity(),
                        .stdio = {launch.stdio[0].get(), launch.stdio[1].get(), launch.stdio[2].get()},
                        .tty = launch.tty,
                        .failure_pipe = writing.get()};
  auto child = process::Clone({.cgroup_fd = cgroup.clone_into.get(), .pid_namespace_of = container.pidfd()},
                              [&] { return RunExec(start); });
  if (!child.ok()) return child.error();
  session.process.emplace(host_.context, std::move(child).value(), std::move(reading));
  return {};
}

void Pod::EndExec(std::list<ExecSession>::iterator session, Result<int> result) {
  const auto done = std::move(session->done);
  execs_.erase(session);
  done(std::move(result));
  OnContainerEnded();
}

}  // namespace tfemu::supervisor
