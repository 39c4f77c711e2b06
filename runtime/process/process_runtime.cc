#include "runtime/process/process_runtime.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <utility>

#include "emulator/base/rng.h"
#include "runtime/process/cgroup.h"
#include "runtime/process/files.h"
#include "runtime/process/messages.h"
#include "runtime/process/spawn.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

using wire::Reply;
using wire::Request;

constexpr int kReadyTimeoutMs = 10'000;
constexpr int kShutdownTimeoutMs = 10'000;
constexpr int kChannelDescriptor = 3;

// The state folder as its argument tells people, and tools, whose supervisor it is.
int RunSupervisor(const std::string& program, const std::string& state_folder, int channel) {
  ::setsid();  // a Ctrl-C in the daemon's terminal is the daemon's to handle
  if (channel == kChannelDescriptor) ::fcntl(channel, F_SETFD, 0);
  else if (::dup2(channel, kChannelDescriptor) < 0) return 127;
  CloseOnExecFrom(kChannelDescriptor + 1);
  const char* const argv[] = {"tfemu-supervisor", state_folder.c_str(), nullptr};
  ::execv(program.c_str(), const_cast<char* const*>(argv));
  std::fprintf(stderr, "cannot run %s: %s\n", program.c_str(), ::strerror(errno));
  ::fflush(stderr);
  return 127;
}

}  // namespace

ProcessRuntime::ProcessRuntime(io::AsioExecutor& executor, Options options)
    : executor_(executor), options_(std::move(options)) {}

ProcessRuntime::~ProcessRuntime() { Shutdown(); }

void ProcessRuntime::Log(const std::string& text) const {
  if (options_.log) options_.log(text);
}

// Two clusters of one name in different state folders must not share a folder.
std::string ProcessRuntime::CgroupName() const {
  char hash[17];
  std::snprintf(hash, sizeof hash, "%08x", static_cast<unsigned>(Fnv1a(options_.state_folder)));
  return "tfemu-" + options_.cluster + "-" + hash;
}

Result<void> ProcessRuntime::Start() {
  CHECK_THAT(!channel_);
  if (!options_.state_folder.starts_with('/'))
    return Error{Reason::kInvalid, "the state folder \"" + options_.state_folder + "\" is no absolute path"};
  if (::access(options_.supervisor_program.c_str(), X_OK))
    return SystemError("run " + options_.supervisor_program);
  RETURN_IF_ERROR(MakeFolders(options_.state_folder));
  CleanUp();  // what a killed predecessor left
  const auto started = Spawn();
  const auto ready = started.ok() ? Handshake() : started;
  if (!ready.ok()) {
    Shutdown();
    return ready.error();
  }
  channel_->Start([this](std::string_view body,
                         Channel::Descriptors descriptors) { OnMessage(body, std::move(descriptors)); },
                  [this] { OnClosed(); });
  return {};
}

Result<void> ProcessRuntime::Spawn() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return SystemError("socketpair");
  channel_ = std::make_unique<Channel>(executor_.context(), UniqueFd(ends[0]));
  const UniqueFd theirs(ends[1]);
  // Being PID 1 of a pid namespace, the supervisor takes every pod with it, however it dies.
  auto child = Clone({.namespaces = CLONE_NEWPID}, [&] {
    return RunSupervisor(options_.supervisor_program, options_.state_folder, theirs.get());
  });
  if (!child.ok()) return child.error();
  pid_ = child.value().pid;
  pidfd_ = std::move(child.value().pidfd);
  return {};
}

Result<void> ProcessRuntime::Handshake() {
  Request request;
  request.mutable_configure()->set_state_folder(options_.state_folder);
  request.mutable_configure()->set_cgroup_name(CgroupName());
  channel_->Send(request.SerializeAsString());
  const auto answer = channel_->ReceiveBlocking(kReadyTimeoutMs);
  if (!answer.ok())
    return Error{Reason::kUnavailable, "tfemu-supervisor did not start: " + answer.error().message};
  Reply reply;
  if (reply.ParseFromString(answer.value()) && reply.has_ready()) return {};
  return Error{Reason::kInternal, "tfemu-supervisor did not start: " + reply.report().text()};
}

void ProcessRuntime::Shutdown() {
  if (channel_) {
    Request request;
    request.mutable_shutdown();
    channel_->Send(request.SerializeAsString());
    channel_.reset();  // the supervisor stops its pods and ends when we are gone
  }
  EndSupervisor(kShutdownTimeoutMs);
  CleanUp();
  FailPending("the runtime is shutting down");
}

void ProcessRuntime::EndSupervisor(int patience_ms) {
  if (!pidfd_.valid()) return;
  pollfd wait{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do ready = ::poll(&wait, 1, patience_ms);
  while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    Log("tfemu-supervisor does not end, killing it");
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  }
  exit_status_ = Reap(pidfd_.get());
  pidfd_.Reset();
  pid_ = 0;
}

// Its end of the socket closes when it dies, and not before.
void ProcessRuntime::OnClosed() {
  channel_.reset();
  EndSupervisor(kShutdownTimeoutMs);
  CleanUp();
  const std::string why = exit_status_.signal
                              ? "tfemu-supervisor was killed by signal " + std::to_string(exit_status_.signal)
                              : "tfemu-supervisor ended with code " + std::to_string(exit_status_.exit_code);
  Log(why);
  FailPending(why);
  if (lost_) lost_(why);
}

void ProcessRuntime::CleanUp() {
  if (!RemoveCgroups(kCgroupMount, CgroupName()))
    Log("the cgroups named " + CgroupName() + " could not be removed");
  RemoveTree(options_.state_folder + "/pods");
  RemoveTree(options_.state_folder + "/supervisor");
}

void ProcessRuntime::FailPending(const std::string& why) {
  for (auto& [id, pending] : std::exchange(pending_, {}))
    Complete(std::move(pending), Error{Reason::kUnavailable, why}, {});
}

void ProcessRuntime::Complete(Pending pending, const Result<int>& result, UniqueFd socket) {
  if (pending.exec) return pending.exec(result);
  if (!result.ok()) return pending.socket(result.error());
  if (!socket.valid()) return pending.socket(Error{Reason::kInternal, "the supervisor sent no socket"});
  pending.socket(std::move(socket));
}

void ProcessRuntime::Send(const wire::Request& request, Channel::Descriptors descriptors) {
  if (channel_) channel_->Send(request.SerializeAsString(), std::move(descriptors));
}

void ProcessRuntime::Ask(wire::Request request, Pending pending, Channel::Descriptors descriptors) {
  const uint64_t id = next_id_++;
  if (request.has_exec()) request.mutable_exec()->set_id(id);
  if (request.has_open_socket()) request.mutable_open_socket()->set_id(id);
  if (request.has_open_cluster_socket()) request.mutable_open_cluster_socket()->set_id(id);
  pending_[id] = std::move(pending);
  if (channel_) return Send(request, std::move(descriptors));
  executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) FailPending("tfemu-supervisor is not running");
  });
}

void ProcessRuntime::OnMessage(std::string_view body, Channel::Descriptors descriptors) {
  Reply reply;
  if (!reply.ParseFromArray(body.data(), static_cast<int>(body.size())))
    return Log("a reply could not be read");
  if (reply.has_report()) return Log(reply.report().text());
  if (reply.has_event()) {
    const Duration age(SteadyNanoseconds() - reply.event().steady_ns());
    const auto event = Decode(std::move(*reply.mutable_event()), Instant{(executor_.Now().ns - age.count())});
    if (sink_) sink_(event);
    return;
  }
  if (!reply.has_answer()) return;
  const auto& answer = reply.answer();
  auto asked = pending_.extract(answer.id());
  if (asked.empty()) return;
  UniqueFd socket;
  if (!descriptors.empty()) socket = std::move(descriptors.front());
  Complete(std::move(asked.mapped()),
           answer.error().empty() ? Result<int>(answer.exit_code())
                                  : Error{static_cast<Reason>(answer.error_reason()), answer.error()},
           std::move(socket));
}

void ProcessRuntime::StartPod(const runtime::PodLaunch& pod) {
  Request request;
  *request.mutable_start_pod() = Encode(pod);
  Send(request);
}

void ProcessRuntime::StartContainer(const std::string& uid, const runtime::ContainerLaunch& container) {
  Request request;
  *request.mutable_start_container() = Encode(uid, container);
  Send(request);
}

void ProcessRuntime::SignalContainer(const std::string& uid, const std::string& container, int signal) {
  Request request;
  request.mutable_signal_container()->set_uid(uid);
  request.mutable_signal_container()->set_container(container);
  request.mutable_signal_container()->set_signal(signal);
  Send(request);
}

void ProcessRuntime::StopPod(const std::string& uid) {
  Request request;
  request.mutable_stop_pod()->set_uid(uid);
  Send(request);
}

void ProcessRuntime::UpdateFiles(const std::string& uid, const std::string& volume,
                                 const std::vector<runtime::File>& files) {
  Request request;
  *request.mutable_update_files() = EncodeFiles(uid, volume, files);
  Send(request);
}

void ProcessRuntime::DiscardFolder(const std::string& folder, const std::string& aside) {
  Request request;
  request.mutable_discard_folder()->set_folder(folder);
  request.mutable_discard_folder()->set_aside(aside);
  Send(request);
}

void ProcessRuntime::Exec(const std::string& uid, runtime::ExecLaunch launch,
                          std::function<void(Result<int>)> done) {
  Request request;
  auto& exec = *request.mutable_exec();
  exec.set_uid(uid);
  exec.set_container(launch.container);
  for (const auto& argument : launch.argv) exec.add_argv(argument);
  exec.set_tty(launch.tty);
  Channel::Descriptors descriptors;
  for (auto& fd : launch.stdio) descriptors.push_back(std::move(fd));
  Ask(std::move(request), {.exec = std::move(done)}, std::move(descriptors));
}

void ProcessRuntime::OpenSocket(const std::string& uid, SocketDone done) {
  Request request;
  request.mutable_open_socket()->set_uid(uid);
  Ask(std::move(request), {.socket = std::move(done)});
}

void ProcessRuntime::OpenClusterSocket(const ClusterSocket& socket, SocketDone done) {
  Request request;
  auto& open = *request.mutable_open_cluster_socket();
  open.set_address(socket.address);
  open.set_port(socket.port);
  open.set_udp(socket.udp);
  Ask(std::move(request), {.socket = std::move(done)});
}

}  // namespace tfemu::process
