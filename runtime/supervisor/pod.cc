#include "runtime/supervisor/pod.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::supervisor {
namespace {

using Type = runtime::PodEvent::Type;

constexpr Duration kLinkPatience = std::chrono::milliseconds(200);  // the kernel usually needs 10 to 40 ms
constexpr Duration kCgroupRetry = std::chrono::milliseconds(5);
constexpr int kCgroupTries = 400;

}  // namespace

Pod::Pod(PodHost& host, runtime::PodLaunch launch)
    : host_(host), launch_(std::move(launch)), volumes_(host, launch_.uid), usage_(host, launch_.uid) {}

void Pod::Start() {
  const auto made = MakeSandbox();
  runtime::PodEvent event{.type = made.ok() ? Type::kSandboxReady : Type::kSandboxFailed, .uid = launch_.uid};
  if (!made.ok()) {
    event.reason = made.error().message.starts_with("MountVolume") ? "FailedMount" : "FailedCreatePodSandBox";
    event.message = made.error().message;
  }
  started_ = true;
  ready_ = made.ok();
  if (!ready_) RemoveFolders();
  host_.emit(event);
  if (ready_) usage_.Start(launch_.volumes, volumes_.paths());
}

Result<void> Pod::MakeSandbox() {
  RETURN_IF_ERROR(volumes_.Make(launch_.volumes));
  ASSIGN_OR_RETURN(namespaces_,
                   host_.home.Create([this](const process::PodNamespaces& inside) -> Result<void> {
                     if (::sethostname(launch_.hostname.data(), launch_.hostname.size()))
                       return process::SystemError("set the host name \"" + launch_.hostname + "\"");
                     ASSIGN_OR_RETURN(link_, host_.network.Attach(launch_.address, inside.net));
                     return {};
                   }));
  if (launch_.share_processes)
    RETURN_IF_ERROR(processes_.Start(host_, namespaces_, [this] { OnContainerEnded(); }));
  return {};
}

void Pod::UpdateFiles(const std::string& volume, const std::vector<runtime::File>& files) {
  if (!ready_ || stopping_) return;
  for (auto& mine : launch_.volumes) {
    if (mine.name != volume) continue;
    mine.files = files;
    const auto updated = volumes_.Update(mine);
    if (!updated.ok())
      host_.report("pod " + launch_.uid + ", volume " + volume + ": " + updated.error().message);
  }
}

void Pod::StartContainer(const runtime::ContainerLaunch& launch) {
  auto& place = containers_[launch.name];
  if (place && (place->running() || place->attempt() >= launch.attempt)) return;  // asked twice
  place = std::make_unique<Container>(host_, launch_.uid, launch);
  if (!ready_ || stopping_) {
    host_.emit({.type = Type::kContainerStartFailed,
                .uid = launch_.uid,
                .container = launch.name,
                .attempt = launch.attempt,
                .exit_code = 128,
                .reason = "StartError",
                .message = "the pod's sandbox is not ready"});
    return;
  }
  const std::string message_file = launch.message_path.empty() ? "" : volumes_.messages() + "/" + launch.name;
  const process::RootRequest root{launch_, launch, volumes_.paths(), volumes_.shm(), message_file};
  place->Start({root, namespaces_, process::ContainerEnvironment(launch_, launch), processes_.pidfd()},
               [this] { OnContainerEnded(); });
}

void Pod::SignalContainer(const std::string& container, int signal) {
  if (const auto found = containers_.find(container); found != containers_.end())
    found->second->Signal(signal);
}

Result<UniqueFd> Pod::OpenSocket() {
  if (!ready_ || stopping_) return Error{Reason::kUnavailable, "the pod is not running"};
  UniqueFd socket;
  RETURN_IF_ERROR(host_.home.InNetwork(namespaces_.net, [&]() -> Result<void> {
    socket.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return socket.valid() ? Result<void>() : process::SystemError("socket");
  }));
  return socket;
}

bool Pod::AnythingRuns() const {
  return !execs_.empty() || processes_.running() ||
         std::any_of(containers_.begin(), containers_.end(),
                     [](const auto& item) { return item.second->running(); });
}

void Pod::Stop(std::function<void()> gone) {
  stopping_ = true;
  gone_ = std::move(gone);
  for (auto& [name, container] : containers_)
    container->Signal(SIGKILL);  // PID 1: its namespace ends with it
  processes_.Stop();
  if (!AnythingRuns()) Release();
}

void Pod::OnContainerEnded() {
  if (stopping_ && !released_ && !AnythingRuns()) Release();
}

void Pod::Later(Duration delay, Task task) {
  host_.executor.PostAt(host_.executor.Now() + delay,
                        [task = std::move(task), alive = std::weak_ptr<bool>(alive_)] {
                          if (!alive.expired()) task();
                        });
}

void Pod::Release() {
  released_ = true;
  namespaces_ = {};
  usage_.Stop();
  RemoveFolders();
  Later(kLinkPatience, [this] {
    link_overdue_ = true;
    TryFinish();
  });
  Later(Duration(0), [this] { TryFinish(); });
}

// In a child: an emptyDir may hold a million files, and the logs of other pods must not wait for them.
void Pod::RemoveFolders() {
  const auto folders = volumes_.Release();
  if (folders.size() == 1) {
    process::RemoveTree(folders.front());
    return;
  }
  auto child = process::Clone({}, [&folders] {
    for (const auto& folder : folders) process::RemoveTree(folder);
    return 0;
  });
  UniqueFd nothing_to_say(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!child.ok()) {
    host_.report("cannot remove the folders of pod " + launch_.uid + ": " + child.error().message);
    return;
  }
  remover_.emplace(host_.context, std::move(child).value(), std::move(nothing_to_say))
      .Watch({.executed = [] {},
              .failed = [](const StartFailure&) {},
              .exited =
                  [this](const process::ExitStatus&) {
                    remover_.reset();
                    TryFinish();
                  }});
}

bool Pod::CgroupsGone() {
  for (const auto& [name, container] : containers_) host_.cgroups.Remove(container->cgroup_path());
  if (host_.cgroups.Remove(launch_.uid)) return true;
  if (++cgroup_tries_ < kCgroupTries) {
    Later(kCgroupRetry, [this] { TryFinish(); });
    return false;
  }
  host_.report("the cgroups of pod " + launch_.uid + " could not be removed");
  return true;
}

void Pod::TryFinish() {
  if (!released_ || remover_ || !gone_) return;
  if (link_ && host_.network.Exists(link_)) {
    if (!link_overdue_) return;
    host_.network.Delete(link_);  // somebody outside still holds the namespace
  }
  link_ = 0;
  if (!CgroupsGone()) return;
  host_.emit({.type = Type::kPodStopped, .uid = launch_.uid});
  host_.executor.Post(std::exchange(gone_, nullptr));
}

}  // namespace tfemu::supervisor
