#include "runtime/supervisor/container.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>

#include "runtime/process/files.h"
#include "runtime/process/system_error.h"
#include "runtime/supervisor/termination_message.h"

namespace tfemu::supervisor {
namespace {

using Type = runtime::PodEvent::Type;

struct Pipe {
  UniqueFd reading, writing;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC)) return process::SystemError("pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Container::Container(PodHost& host, const std::string& pod_uid, const runtime::ContainerLaunch& launch)
    : host_(host),
      pod_uid_(pod_uid),
      name_(launch.name),
      working_dir_(launch.working_dir),
      log_path_(launch.log_path),
      cgroup_path_(pod_uid + "/" + launch.name),
      message_from_log_(launch.message_from_log),
      identity_(IdentityOf(launch)),
      attempt_(launch.attempt),
      limits_(launch.limits) {}

runtime::PodEvent Container::Event(Type type) const {
  return {.type = type, .uid = pod_uid_, .container = name_, .attempt = attempt_};
}

void Container::Start(const Surroundings& surroundings, std::function<void()> ended) {
  ended_ = std::move(ended);
  environment_ = surroundings.environment;
  message_file_ = surroundings.root.message_file;
  shared_processes_ = surroundings.process_namespace >= 0;
  const auto started = TryStart(surroundings);
  if (!started.ok()) OnFailed({.reason = "StartError", .message = started.error().message});
}

Result<void> Container::TryStart(const Surroundings& surroundings) {
  if (surroundings.root.container.argv.empty()) return Error{Reason::kInvalid, "no command specified"};
  LogFile file(log_path_, host_.executor, [this](std::string text) {
    host_.report("pod " + pod_uid_ + ", container " + name_ + ": " + text);
  });
  RETURN_IF_ERROR(file.Open());
  for (const auto& layer : surroundings.root.container.root.layers) {
    layers_.emplace_back(::open(layer.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (layers_.back().valid()) ::flock(layers_.back().get(), LOCK_SH | LOCK_NB);
  }
  if (!message_file_.empty()) {
    RETURN_IF_ERROR(process::MakeFolders(process::ParentFolder(message_file_)));
    RETURN_IF_ERROR(process::CreateFile(message_file_, "", 0666));
  }
  ASSIGN_OR_RETURN(const process::CgroupDoor cgroup, host_.cgroups.Make(cgroup_path_, limits_));
  oom_kills_before_ = host_.cgroups.OomKills(cgroup_path_);
  ASSIGN_OR_RETURN(Pipe output, MakePipe());
  ASSIGN_OR_RETURN(Pipe error, MakePipe());
  ASSIGN_OR_RETURN(Pipe failure, MakePipe());
  const ContainerStart start{.root = surroundings.root,
                             .pod = surroundings.namespaces,
                             .cgroup = cgroup,
                             .stage = host_.stage(),
                             .environment = environment_,
                             .standard_output = output.writing.get(),
                             .standard_error = error.writing.get(),
                             .failure_pipe = failure.writing.get()};
  auto child = process::Clone(
      {.namespaces = shared_processes_ ? uint64_t{CLONE_NEWNS} : uint64_t{CLONE_NEWNS | CLONE_NEWPID},
       .cgroup_fd = cgroup.clone_into.get(),
       .pid_namespace_of = surroundings.process_namespace},
      [&] { return RunContainer(start); });
  if (!child.ok()) return child.error();
  log_.emplace(std::move(file)).Start(host_.context, std::move(output.reading), std::move(error.reading));
  process_.emplace(host_.context, std::move(child).value(), std::move(failure.reading))
      .Watch({.executed =
                  [this] {
                    auto event = Event(Type::kContainerStarted);
                    event.pid = process_->host_pid();
                    host_.emit(event);
                  },
              .failed = [this](const StartFailure& reason) { OnFailed(reason); },
              .exited = [this](const process::ExitStatus& status) { OnExited(status); }});
  return {};
}

void Container::Signal(int signal) {
  if (process_) process_->Signal(signal);
}

void Container::OnFailed(const StartFailure& failure) {
  auto event = Event(Type::kContainerStartFailed);
  event.reason = failure.reason;
  event.message = failure.message;
  event.exit_code = failure.exit_code;
  host_.emit(event);
  End();
}

void Container::OnExited(const process::ExitStatus& status) {
  log_->Finish();
  auto event = Event(Type::kContainerExited);
  event.exit_code = status.exit_code;
  event.signal = status.signal;
  event.message =
      TerminationMessage(message_file_, message_from_log_ && status.exit_code != 0 ? log_path_ : "");
  event.oom_killed = host_.cgroups.OomKills(cgroup_path_) > oom_kills_before_;
  host_.emit(event);
  End();
}

void Container::End() {
  // What it started did not end with it, when it was not the first process of a namespace of its own.
  if (shared_processes_) host_.cgroups.Kill(cgroup_path_);
  if (!message_file_.empty()) ::unlink(message_file_.c_str());
  log_.reset();
  process_.reset();
  layers_.clear();
  host_.cgroups.Remove(cgroup_path_);
  const auto ended = std::move(ended_);
  if (ended) ended();
}

}  // namespace tfemu::supervisor
