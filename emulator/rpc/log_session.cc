#include "emulator/rpc/log_session.h"

#include <algorithm>
#include <filesystem>

#include "emulator/rpc/status.h"

namespace tfemu::rpc {
namespace {

namespace fs = std::filesystem;

// Messages handed to the transport ahead of time: enough to keep it busy, little enough to stay small.
constexpr size_t kMaxQueued = 2;
// How long a job's other pods are listened to after its end.
constexpr Duration kLinger = std::chrono::milliseconds(500);

std::vector<fs::path> NewestFirst(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const auto& entry : fs::directory_iterator(folder, error))
    entries.emplace_back(entry.last_write_time(error), entry.path());
  std::ranges::sort(entries, std::greater());
  std::vector<fs::path> paths;
  for (auto& entry : entries) paths.push_back(std::move(entry.second));
  return paths;
}

int LastAttempt(const fs::path& folder) {
  int last = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    last = std::max(last, std::atoi(entry.path().stem().c_str()));
  return last;
}

Error NoSuchContainer(const api::PodView& pod, const std::string& container) {
  std::string names;
  for (const auto& other : pod.containers) names += (names.empty() ? "" : ", ") + other.name;
  return Error{Reason::kNotFound, "container \"" + container + "\" is not in pod \"" + pod.name + "\"",
               "its containers: " + names};
}

}  // namespace

JoinOptions LogSession::Joining() const {
  JoinOptions options{request_.timestamps()};
  if (request_.since_ns() > 0) options.since = Instant{request_.since_ns()};
  return options;
}

void LogSession::Opened(StreamOut<v1::LogsReply>& out) {
  out_ = &out;
  if (const auto begun = Begin(); !begun.ok()) out_->Finish(ToStatus(begun.error()));
  else Pump();
}

Result<void> LogSession::Begin() {
  RETURN_IF_ERROR(selection_.Begin(request_));
  if (request_.follow())
    files_ = std::make_unique<FileWatch>(backend_.executor.context(), [this] {
      if (out_ != nullptr) Pump();
    });
  const auto pods = backend_.registry.List({"Pod", request_.ns()}, {});
  for (const auto& pod : pods.objects)
    if (selection_.Contains(pod)) RETURN_IF_ERROR(AddPod(api::ViewPod(pod)));
  for (const auto& target : request_.targets())
    if (target.kind() == "Pod" && !backend_.registry.Get({"Pod", target.ns(), target.name()}).ok())
      RETURN_IF_ERROR(AddKeptPod(target.name()));
  if (!request_.follow()) return {};
  const auto sink = [this](const store::WatchEvent& event) { OnEvent(event); };
  ASSIGN_OR_RETURN(watch_, backend_.store.Watch({"", request_.ns()}, pods.revision, sink));
  return {};
}

void LogSession::Closed() {
  if (watch_) backend_.store.Unwatch(*watch_);
  watch_.reset();
  files_.reset();
  out_ = nullptr;
}

bool LogSession::Wanted(const api::PodView& pod, const api::ContainerView& container) const {
  if (!request_.container().empty()) return container.name == request_.container();
  return request_.all_containers() || container.name == pod.default_container;
}

Result<void> LogSession::AddPod(const api::PodView& pod) {
  if (!request_.container().empty() && pod.Find(request_.container()) == nullptr)
    return NoSuchContainer(pod, request_.container());
  for (const auto& container : pod.containers)
    if (Wanted(pod, container)) RETURN_IF_ERROR(AddReader(pod, container));
  Update(pod, /*gone=*/false);
  return {};
}

Result<void> LogSession::AddReader(const api::PodView& pod, const api::ContainerView& container) {
  const auto refuse = [&](std::string message) { return Error{Reason::kBadRequest, std::move(message)}; };
  int attempt = container.attempt;
  if (request_.previous() && --attempt < 0)
    return refuse("previous terminated container \"" + container.name + "\" in pod \"" + pod.name +
                  "\" not found");
  LogSource source({backend_.state_folder, pod.ns, pod.name, pod.uid, container.name, attempt}, Joining());
  Reader reader{std::move(source), next_id_++};
  Open(reader);
  if (!reader.opened && !request_.follow() && request_.targets_size() == 1 && !pod.over())
    return refuse("container \"" + container.name + "\" in pod \"" + pod.name + "\" is waiting to start: " +
                  (container.reason.empty() ? pod.status_word : container.reason) +
                  (pod.unschedulable.empty() ? "" : " (" + pod.unschedulable + ")"));
  if (request_.previous()) reader.attempt_over = reader.pod_over = true;
  if (reader.opened && request_.has_tail()) reader.source.SkipToTail(request_.tail());
  readers_.push_back(std::move(reader));
  return {};
}

Result<void> LogSession::AddKeptPod(const std::string& name) {
  const auto uids = NewestFirst(fs::path(backend_.state_folder) / "logs" / request_.ns() / name);
  if (uids.empty()) return Error{Reason::kNotFound, "pods \"" + name + "\" not found"};
  api::PodView pod{.ns = request_.ns(), .name = name, .uid = uids.front().filename(), .phase = "Succeeded"};
  auto folders = NewestFirst(uids.front());
  std::ranges::sort(folders);
  for (const auto& folder : folders)
    pod.containers.push_back({.name = folder.filename(), .attempt = LastAttempt(folder)});
  pod.default_container = pod.Find("tensorflow") != nullptr || pod.containers.empty()
                              ? "tensorflow"
                              : pod.containers.front().name;
  RETURN_IF_ERROR(AddPod(pod));
  Update(pod, /*gone=*/true);
  return {};
}

void LogSession::Open(Reader& reader) {
  reader.opened = reader.opened || reader.source.Open();
  if (reader.opened && files_ != nullptr && !reader.done) (void)files_->Add(reader.source.path());
}

void LogSession::OnEvent(const store::WatchEvent& event) {
  if (out_ == nullptr) return;
  if (event.object.key().kind == "Pod" && selection_.Contains(event.object)) {
    const auto pod = api::ViewPod(event.object);
    const bool known = std::ranges::any_of(
        readers_, [&](const Reader& reader) { return reader.source.file().uid == pod.uid; });
    const bool gone = event.type == store::WatchType::kDeleted;
    if (known) Update(pod, gone);
    else if (const auto added = AddPod(pod); !added.ok()) out_->Finish(ToStatus(added.error()));
  }
  if (out_ != nullptr) Pump();
}

// What the pod's state says about its files: which are complete, and whether more will come.
void LogSession::Update(const api::PodView& pod, bool gone) {
  for (auto& reader : readers_) {
    if (reader.source.file().uid != pod.uid || reader.done) continue;
    if (!reader.opened) Open(reader);
    const auto* container = pod.Find(reader.source.file().container);
    const int attempt = reader.source.file().attempt;
    reader.pod_over = reader.pod_over || gone || pod.over();
    reader.attempt_over =
        reader.pod_over ||
        (container != nullptr &&
         (container->attempt > attempt ||
          (container->attempt == attempt && container->state == api::ContainerView::State::kTerminated)));
    if (container != nullptr && container->init && reader.attempt_over && container->exit_code == 0)
      reader.pod_over = true;
  }
}

// Readers take turns, a piece each, so that one flood does not silence the others.
void LogSession::Pump() {
  for (size_t idle = 0; out_->Queued() < kMaxQueued && idle <= readers_.size();) {
    if (next_ == readers_.end()) next_ = readers_.begin();
    if (next_ == readers_.end()) break;
    idle = PumpReader(*next_++) ? 0 : idle + 1;
  }
  if (out_->Queued() >= kMaxQueued) return;
  if (!request_.follow() || Over()) {
    // Without `follow` everything written so far has been read by now.
    for (auto& reader : readers_)
      if (!reader.done) EndAttempt(reader);
    out_->Finish(grpc::Status::OK);
  }
}

// A job that is over may leave pods running (its parameter servers): they get a moment, and are not waited
// for.
bool LogSession::Over() {
  const auto done = [this](const Reader& reader) {
    return reader.done || (lingered_ && !selection_.Named(reader.source.file().pod));
  };
  if (!selection_.Complete()) return false;
  if (std::ranges::all_of(readers_, done)) return true;
  if (!linger_)
    linger_ = backend_.executor.PostAt(backend_.executor.Now() + kLinger, [self = weak_from_this()] {
      const auto session = self.lock();
      if (session == nullptr || session->out_ == nullptr) return;
      session->lingered_ = true;
      session->Pump();
    });
  return false;
}

bool LogSession::PumpReader(Reader& reader) {
  if (reader.done) return false;
  Open(reader);
  std::string bytes;
  if (reader.source.Read(bytes)) {
    if (!bytes.empty()) Send(reader, std::move(bytes));
    return true;
  }
  if (!reader.attempt_over) return false;
  EndAttempt(reader);
  return true;
}

void LogSession::EndAttempt(Reader& reader) {
  std::string bytes;
  reader.source.Finish(bytes);
  if (!bytes.empty()) Send(reader, std::move(bytes));
  reader.source.NextAttempt();
  reader.announced = reader.opened = reader.attempt_over = false;
  const bool more = request_.follow() && !request_.previous() && reader.source.Open();
  reader.opened = more;
  if (more) Open(reader);
  // The pod's end also ends attempts that were made since its last event.
  reader.attempt_over = more && reader.pod_over;
  reader.done = !more && (reader.pod_over || !request_.follow());
}

void LogSession::Send(Reader& reader, std::string bytes) {
  v1::LogsReply reply;
  reply.set_id(reader.id);
  reply.set_data(std::move(bytes));
  if (!reader.announced) {
    reader.announced = true;
    const auto& file = reader.source.file();
    auto* source = reply.mutable_source();
    source->set_id(reader.id);
    source->set_pod(file.pod);
    source->set_container(file.container);
    source->set_attempt(file.attempt);
  }
  out_->Write(std::move(reply));
}

}  // namespace tfemu::rpc
