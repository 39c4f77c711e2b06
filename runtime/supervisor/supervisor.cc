#include "runtime/supervisor/supervisor.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::supervisor {

using process::wire::Reply;
using process::wire::Request;

Supervisor::Supervisor(io::AsioExecutor& executor, Doors doors, Parts parts)
    : channel_(std::move(doors.channel)),
      parts_(std::move(parts)),
      listener_(executor.context(), std::move(doors.listener)),
      host_{.context = executor.context(),
            .executor = executor,
            .home = parts_.home,
            .network = parts_.network,
            .cgroups = *parts_.cgroups,
            .quotas = quotas_,
            .scratch = parts_.scratch,
            .disk = parts_.disk,
            .emit =
                [this](runtime::PodEvent event) {
                  event.at = Instant{process::SteadyNanoseconds()};
                  Reply reply;
                  *reply.mutable_event() = process::Encode(ledger_.Add(std::move(event)));
                  Send(reply);
                },
            .report = [this](std::string text) { Report(std::move(text)); }} {}

void Supervisor::Start(std::function<void()> finished) {
  finished_ = std::move(finished);
  Reply ready;
  ready.mutable_ready();
  Send(ready);
  Serve(*channel_);
  listener_.WaitReadable([this] { OnConnection(); });
}

void Supervisor::Serve(process::Channel& channel) {
  channel.Start(
      [this, &channel](std::string_view body, Descriptors descriptors) {
        OnMessage(channel, body, std::move(descriptors));
      },
      [this, &channel] { OnClosed(channel); });
}

void Supervisor::OnConnection() {
  UniqueFd socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.valid())
    Serve(*guests_.emplace_back(std::make_unique<process::Channel>(host_.context, std::move(socket))));
  listener_.WaitReadable([this] { OnConnection(); });
}

// The daemon's end is no reason to end: its pods go on, as on a node whose kubelet is restarted.
void Supervisor::OnClosed(process::Channel& channel) {
  if (channel_.get() == &channel) channel_.reset();
  else std::erase_if(guests_, [&](const auto& guest) { return guest.get() == &channel; });
}

void Supervisor::FlushBlocking(int timeout_ms) {
  if (channel_) channel_->FlushBlocking(timeout_ms);
}

void Supervisor::Send(const Reply& reply, Descriptors descriptors) {
  if (channel_) channel_->Send(reply.SerializeAsString(), std::move(descriptors));
}

// Without a daemon it goes to the daemon's log, which is our standard error.
void Supervisor::Report(std::string text) {
  if (!channel_) {
    std::fprintf(stderr, "tfemu-supervisor: %s\n", text.c_str());
    return;
  }
  Reply reply;
  reply.mutable_report()->set_text(std::move(text));
  Send(reply);
}

Pod* Supervisor::Find(const std::string& uid) {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : found->second.get();
}

void Supervisor::OnMessage(process::Channel& from, std::string_view body, Descriptors descriptors) {
  Request request;
  const bool readable = request.ParseFromArray(body.data(), static_cast<int>(body.size()));
  if (&from != channel_.get()) {
    if (readable && request.has_configure()) Greet(from, request.configure());
    return;
  }
  if (!readable) return Report("a message of the daemon could not be read");
  Obey(std::move(request), std::move(descriptors));
}

// A new daemon, so the former one is gone; what it still had sent counts before the new one is told anything.
void Supervisor::Greet(process::Channel& guest, const process::wire::Configure& configure) {
  Reply reply;
  if (configure.version() != process::kProtocolVersion) {
    reply.mutable_report()->set_text("its supervisor speaks version " +
                                     std::to_string(process::kProtocolVersion) + " of their protocol, not " +
                                     std::to_string(configure.version()));
    guest.Send(reply.SerializeAsString());
    return;
  }
  if (channel_) channel_->ReadRest();
  const auto place = std::ranges::find_if(guests_, [&](const auto& one) { return one.get() == &guest; });
  channel_ = std::move(*place);
  guests_.erase(place);
  ++daemons_;
  *reply.mutable_ready() = process::Encode(ledger_.Snapshot());
  Send(reply);
}

void Supervisor::Obey(Request request, Descriptors descriptors) {
  switch (request.kind_case()) {
    case Request::kStartPod: return StartPod(std::move(*request.mutable_start_pod()));
    case Request::kStartContainer: {
      const std::string uid = request.start_container().uid();
      const auto launch = process::Decode(std::move(*request.mutable_start_container()));
      ledger_.OnStartContainer(uid, launch);
      if (Pod* pod = Find(uid)) pod->StartContainer(launch);
      return;
    }
    case Request::kSignalContainer: {
      const auto& message = request.signal_container();
      ledger_.OnSignal(message.uid(), message.container(), message.signal());
      if (Pod* pod = Find(message.uid())) pod->SignalContainer(message.container(), message.signal());
      return;
    }
    case Request::kStopPod: return StopPod(request.stop_pod().uid());
    case Request::kExec: return Exec(std::move(*request.mutable_exec()), std::move(descriptors));
    case Request::kOpenSocket: return OpenSocket(request.open_socket());
    case Request::kOpenClusterSocket: return OpenClusterSocket(request.open_cluster_socket());
    case Request::kAcknowledge: return ledger_.Acknowledge(request.acknowledge().sequence());
    case Request::kShutdown: return Shutdown();
    case Request::kUpdateFiles: {
      const std::string volume = request.update_files().volume();
      if (Pod* pod = Find(request.update_files().uid()))
        pod->UpdateFiles(volume, process::DecodeFiles(std::move(*request.mutable_update_files())));
      return;
    }
    case Request::kDiscardFolder: return DiscardFolder(request.discard_folder());
    case Request::kConfigure:
    case Request::KIND_NOT_SET: break;
  }
  Report("the daemon sent a message that has no meaning now");
}

void Supervisor::StartPod(process::wire::StartPod message) {
  if (shutting_down_) return;
  auto& place = pods_[message.uid()];
  if (place && !place->failed()) return;  // asked twice
  runtime::PodLaunch launch = process::Decode(std::move(message));
  ledger_.OnStartPod(launch);
  place = std::make_unique<Pod>(host_, std::move(launch));
  place->Start();
}

void Supervisor::StopPod(const std::string& uid) {
  Pod* pod = Find(uid);
  if (!pod) {
    host_.emit({.type = runtime::PodEvent::Type::kPodStopped, .uid = uid});
    return;
  }
  Stop(*pod, uid);
}

void Supervisor::Stop(Pod& pod, const std::string& uid) {
  if (pod.stopping()) return;
  ledger_.OnStopPod(uid);
  ++stopping_;
  WatchLinks();
  pod.Stop([this, uid] { OnPodGone(uid); });
}

void Supervisor::OnPodGone(const std::string& uid) {
  pods_.erase(uid);
  if (--stopping_ == 0) links_.Close();
  FinishWhenEmpty();
}

void Supervisor::Exec(process::wire::Exec message, Descriptors descriptors) {
  const uint64_t id = message.id();
  Pod* pod = Find(message.uid());
  if (!pod || descriptors.size() != 3)
    return Answer(id, pod ? Error{Reason::kBadRequest, "exec needs three descriptors"}
                          : Error{Reason::kNotFound, "the pod is not running"});
  runtime::ExecLaunch launch{.container = message.container(), .tty = message.tty()};
  for (auto& text : *message.mutable_argv()) launch.argv.push_back(std::move(text));
  for (size_t i = 0; i < 3; ++i) launch.stdio[i] = std::move(descriptors[i]);
  pod->Exec(std::move(launch), [this, id, asker = daemons_](const Result<int>& result) {
    if (asker == daemons_) Answer(id, result);
  });
}

void Supervisor::OpenSocket(const process::wire::OpenSocket& message) {
  Pod* pod = Find(message.uid());
  AnswerSocket(message.id(), pod ? pod->OpenSocket() : Error{Reason::kNotFound, "the pod is not running"});
}

void Supervisor::OpenClusterSocket(const process::wire::OpenClusterSocket& message) {
  AnswerSocket(message.id(), parts_.network.OpenSocket({.address = message.address(),
                                                        .port = static_cast<uint16_t>(message.port()),
                                                        .udp = message.udp()}));
}

void Supervisor::DiscardFolder(const process::wire::DiscardFolder& message) {
  const std::string folder = message.folder(), aside = message.aside();
  quotas_.Drop(folder);
  if (!aside.empty()) {
    if (::rename(folder.c_str(), aside.c_str()) && errno != ENOENT)
      host_.report(process::SystemError("cannot keep " + folder + " as " + aside).message);
    return;
  }
  auto child = process::Clone({}, [folder] {
    process::RemoveTree(folder);
    return 0;
  });
  if (!child.ok()) return host_.report("cannot remove " + folder + ": " + child.error().message);
  removers_.emplace_back(host_.context, std::move(child.value().pidfd));
  const auto remover = std::prev(removers_.end());
  remover->WaitReadable([this, remover] {
    process::Reap(remover->fd());
    removers_.erase(remover);
  });
}

void Supervisor::Answer(uint64_t id, const Result<int>& result) {
  Reply reply;
  auto& answer = *reply.mutable_answer();
  answer.set_id(id);
  if (result.ok()) {
    answer.set_exit_code(result.value());
  } else {
    answer.set_error(result.error().message);
    answer.set_error_reason(static_cast<int>(result.error().reason));
  }
  Send(reply);
}

void Supervisor::AnswerSocket(uint64_t id, Result<UniqueFd> socket) {
  if (!socket.ok()) return Answer(id, socket.error());
  Reply reply;
  reply.mutable_answer()->set_id(id);
  Descriptors descriptors;
  descriptors.push_back(std::move(socket).value());
  Send(reply, std::move(descriptors));
}

// Only while a pod stops: each pod's start would wake us several times for nothing.
void Supervisor::WatchLinks() {
  if (links_.valid()) return;
  auto links = ClusterNetwork::WatchLinks();
  if (!links.ok()) return host_.report(links.error().message);  // pods then wait for their time-out
  links_ = process::FdWatch(host_.context, std::move(links).value());
  OnLinks();
}

void Supervisor::OnLinks() {
  char ignored[16384];  // what matters is asked for: messages may have been dropped
  for (errno = 0; ::read(links_.fd(), ignored, sizeof ignored) > 0 || errno == ENOBUFS;) errno = 0;
  for (auto& [uid, pod] : pods_) pod->OnLinkChange();
  links_.WaitReadable([this] { OnLinks(); });
}

void Supervisor::Shutdown() {
  if (std::exchange(shutting_down_, true)) return;
  for (auto& [uid, pod] : pods_) Stop(*pod, uid);
  FinishWhenEmpty();
}

void Supervisor::FinishWhenEmpty() {
  if (!shutting_down_ || !pods_.empty()) return;
  parts_.cgroups->Remove("");
  if (const auto finished = std::exchange(finished_, nullptr)) finished();
}

}  // namespace tfemu::supervisor
