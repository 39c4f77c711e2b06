#include "runtime/process/process_runtime.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <utility>

#include "emulator/base/rng.h"
#include "runtime/process/cgroup.h"
#include "runtime/process/files.h"
#include "runtime/process/messages.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

using wire::Reply;
using wire::Request;

constexpr int kReadyTimeoutMs = 10'000;
constexpr int kShutdownTimeoutMs = 10'000;
constexpr int kFlushTimeoutMs = 1000;

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
  ASSIGN_OR_RETURN(const bool taken_over, TakeOverRunning());
  if (!taken_over) RETURN_IF_ERROR(StartFresh());
  channel_->Start([this](std::string_view body,
                         Channel::Descriptors descriptors) { OnMessage(body, std::move(descriptors)); },
                  [this] { OnClosed(); });
  return {};
}

Result<bool> ProcessRuntime::TakeOverRunning() {
  ASSIGN_OR_RETURN(auto found, SupervisorProcess::Find(options_.state_folder));
  if (!found) return false;
  const std::string pid = std::to_string(found->process.pid());
  supervisor_ = std::move(found->process);
  channel_ = std::make_unique<Channel>(executor_.context(), std::move(found->socket));
  const auto greeted = Handshake();
  if (greeted.ok()) return true;
  channel_.reset();
  if (greeted.error().reason == Reason::kUnavailable) {  // it was about to end
    supervisor_.AwaitEnd(kShutdownTimeoutMs);
    return false;
  }
  supervisor_ = {};
  const std::string what = "the pods of cluster " + options_.cluster + " are still kept, but ";
  if (greeted.error().reason == Reason::kTimeout)
    return Error{Reason::kTimeout, what + "their supervisor (process " + pid + ") does not answer",
                 "tfemu down ends it and them"};
  return Error{Reason::kConflict, what + greeted.error().message,
               "start the tfemud that belongs to it, or end it and its pods: tfemu down"};
}

Result<void> ProcessRuntime::StartFresh() {
  lost_before_ = HowSupervisorWasLost(options_.state_folder);
  CleanUp();  // what a killed predecessor left
  kept_ = {};
  auto started = SupervisorProcess::Start(options_.supervisor_program, options_.state_folder);
  if (started.ok()) {
    supervisor_ = std::move(started.value().process);
    channel_ = std::make_unique<Channel>(executor_.context(), std::move(started.value().socket));
  }
  const auto ready = started.ok() ? Handshake() : Result<void>(started.error());
  if (ready.ok()) {
    kept_.taken_over = false;
    return {};
  }
  Shutdown();
  return Error{ready.error().reason, "tfemu-supervisor did not start: " + ready.error().message};
}

Result<void> ProcessRuntime::Handshake() {
  Request request;
  request.mutable_configure()->set_state_folder(options_.state_folder);
  request.mutable_configure()->set_cgroup_name(CgroupName());
  request.mutable_configure()->set_version(kProtocolVersion);
  channel_->Send(request.SerializeAsString());
  ASSIGN_OR_RETURN(const std::string answer, channel_->ReceiveBlocking(kReadyTimeoutMs));
  Reply reply;
  if (!reply.ParseFromString(answer)) return Error{Reason::kInternal, "its answer could not be read"};
  if (!reply.has_ready()) return Error{Reason::kInternal, reply.report().text()};
  kept_ =
      Decode(std::move(*reply.mutable_ready()), [this](int64_t steady_ns) { return AtSteady(steady_ns); });
  return {};
}

Instant ProcessRuntime::AtSteady(int64_t steady_ns) const {
  return Instant{executor_.Now().ns - (SteadyNanoseconds() - steady_ns)};
}

void ProcessRuntime::Shutdown() {
  if (channel_) {
    Request request;
    request.mutable_shutdown();
    channel_->Send(request.SerializeAsString());
    channel_->FlushBlocking(kFlushTimeoutMs);
    channel_.reset();
  }
  supervisor_.Terminate();  // a supervisor too busy to read still gets this
  const bool ran = supervisor_.pid() != 0;
  if (!supervisor_.AwaitEnd(kShutdownTimeoutMs)) Log("tfemu-supervisor does not end, killing it");
  if (ran) CleanUp();
  FailPending("the runtime is shutting down");
}

Result<void> ProcessRuntime::Sweep() {
  ASSIGN_OR_RETURN(auto found, SupervisorProcess::Find(options_.state_folder));
  if (found) {
    found->process.Terminate();
    if (!found->process.AwaitEnd(kShutdownTimeoutMs)) Log("tfemu-supervisor does not end, killing it");
  }
  CleanUp();
  return {};
}

void ProcessRuntime::Abandon() {
  channel_.reset();
  supervisor_ = {};
  FailPending("the daemon is ending");
}

// Its end of the socket closes when it dies, and not before.
void ProcessRuntime::OnClosed() {
  channel_.reset();
  supervisor_.AwaitEnd(kShutdownTimeoutMs);
  CleanUp();
  const ExitStatus& status = supervisor_.status();
  std::string why = "tfemu-supervisor ended";
  if (supervisor_.status_known())
    why = status.signal ? "tfemu-supervisor was killed by signal " + std::to_string(status.signal)
                        : "tfemu-supervisor ended with code " + std::to_string(status.exit_code);
  Log(why);
  FailPending(why);
  if (lost_) lost_(why);
}

void ProcessRuntime::CleanUp() {
  if (!RemoveCgroups(kCgroupMount, CgroupName()))
    Log("the cgroups named " + CgroupName() + " could not be removed");
  RemoveTree(options_.state_folder + "/pods");
  RemoveTree(options_.state_folder + "/supervisor");
  ::unlink(SupervisorSocket(options_.state_folder).c_str());
  ::unlink(SupervisorPidFile(options_.state_folder).c_str());
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
    const Instant at = AtSteady(reply.event().steady_ns());
    const auto event = Decode(std::move(*reply.mutable_event()), at);
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

void ProcessRuntime::Acknowledge(uint64_t sequence) {
  Request request;
  request.mutable_acknowledge()->set_sequence(sequence);
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
