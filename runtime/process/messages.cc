#include "runtime/process/messages.h"

#include <chrono>
#include <utility>

namespace tfemu::process {
namespace {

using google::protobuf::RepeatedPtrField;

RepeatedPtrField<std::string> Texts(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::vector<std::string> Texts(RepeatedPtrField<std::string>& texts) {
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(texts.size()));
  for (auto& text : texts) out.push_back(std::move(text));
  return out;
}

void EncodeFiles(const std::vector<runtime::File>& files, RepeatedPtrField<wire::File>& out) {
  for (const auto& file : files) {
    wire::File& to = *out.Add();
    to.set_path(file.path);
    to.set_content(file.content);
    to.set_mode(file.mode);
  }
}

std::vector<runtime::File> DecodeFiles(RepeatedPtrField<wire::File>& files) {
  std::vector<runtime::File> out;
  for (auto& file : files)
    out.push_back({std::move(*file.mutable_path()), std::move(*file.mutable_content()), file.mode()});
  return out;
}

void EncodeVolume(const runtime::Volume& volume, wire::Volume& to) {
  to.set_name(volume.name);
  to.set_type(static_cast<int>(volume.type));
  to.set_host_path(volume.host_path);
  if (volume.create_mode) to.set_create_mode(*volume.create_mode);
  to.set_size_bytes(volume.size_bytes);
  EncodeFiles(volume.files, *to.mutable_files());
  to.set_host_type(volume.host_type);
  to.set_host_base(volume.host_base);
  for (const auto& quota : volume.quotas) {
    wire::Quota& limit = *to.add_quotas();
    limit.set_folder(quota.folder);
    limit.set_bytes(quota.bytes);
  }
  if (volume.group) to.set_group(*volume.group);
  to.set_group_only_on_mismatch(volume.group_only_on_mismatch);
  to.set_read_only(volume.read_only);
}

runtime::Volume DecodeVolume(wire::Volume& from) {
  runtime::Volume volume;
  volume.name = std::move(*from.mutable_name());
  volume.type = static_cast<runtime::Volume::Type>(from.type());
  volume.host_path = std::move(*from.mutable_host_path());
  if (from.has_create_mode()) volume.create_mode = from.create_mode();
  volume.size_bytes = from.size_bytes();
  volume.files = DecodeFiles(*from.mutable_files());
  volume.host_type = std::move(*from.mutable_host_type());
  volume.host_base = std::move(*from.mutable_host_base());
  for (auto& quota : *from.mutable_quotas())
    volume.quotas.push_back({std::move(*quota.mutable_folder()), quota.bytes()});
  if (from.has_group()) volume.group = from.group();
  volume.group_only_on_mismatch = from.group_only_on_mismatch();
  volume.read_only = from.read_only();
  return volume;
}

}  // namespace

wire::UpdateFiles EncodeFiles(const std::string& uid, const std::string& volume,
                              const std::vector<runtime::File>& files) {
  wire::UpdateFiles out;
  out.set_uid(uid);
  out.set_volume(volume);
  EncodeFiles(files, *out.mutable_files());
  return out;
}

std::vector<runtime::File> DecodeFiles(wire::UpdateFiles message) {
  return DecodeFiles(*message.mutable_files());
}

wire::StartPod Encode(const runtime::PodLaunch& pod) {
  wire::StartPod out;
  out.set_uid(pod.uid);
  out.set_ns(pod.ns);
  out.set_name(pod.name);
  out.set_node(pod.node);
  out.set_hostname(pod.hostname);
  out.set_address(pod.address);
  *out.mutable_dns_searches() = Texts(pod.dns_searches);
  *out.mutable_dns_servers() = Texts(pod.dns_servers);
  *out.mutable_dns_options() = Texts(pod.dns_options);
  out.set_share_processes(pod.share_processes);
  EncodeFiles(pod.etc_files, *out.mutable_etc_files());
  for (const auto& volume : pod.volumes) EncodeVolume(volume, *out.add_volumes());
  return out;
}

runtime::PodLaunch Decode(wire::StartPod message) {
  runtime::PodLaunch pod;
  pod.uid = std::move(*message.mutable_uid());
  pod.ns = std::move(*message.mutable_ns());
  pod.name = std::move(*message.mutable_name());
  pod.node = std::move(*message.mutable_node());
  pod.hostname = std::move(*message.mutable_hostname());
  pod.address = std::move(*message.mutable_address());
  pod.dns_searches = Texts(*message.mutable_dns_searches());
  pod.dns_servers = Texts(*message.mutable_dns_servers());
  pod.dns_options = Texts(*message.mutable_dns_options());
  pod.share_processes = message.share_processes();
  pod.etc_files = DecodeFiles(*message.mutable_etc_files());
  for (auto& from : *message.mutable_volumes()) pod.volumes.push_back(DecodeVolume(from));
  return pod;
}

wire::StartContainer Encode(const std::string& uid, const runtime::ContainerLaunch& container) {
  wire::StartContainer out;
  out.set_uid(uid);
  out.set_name(container.name);
  out.set_attempt(container.attempt);
  out.mutable_root()->set_host(container.root.host);
  *out.mutable_root()->mutable_layers() = Texts(container.root.layers);
  out.mutable_root()->set_python_environment(container.root.python_environment);
  *out.mutable_argv() = Texts(container.argv);
  *out.mutable_env() = Texts(container.env);
  out.set_working_dir(container.working_dir);
  for (const auto& mount : container.mounts) {
    wire::Mount& to = *out.add_mounts();
    to.set_volume(mount.volume);
    to.set_sub_path(mount.sub_path);
    to.set_target(mount.target);
    to.set_read_only(mount.read_only);
    to.set_host_path(mount.host_path);
  }
  out.mutable_limits()->set_cpu_millis(container.limits.cpu_millis);
  out.mutable_limits()->set_cpu_shares(container.limits.cpu_shares);
  out.mutable_limits()->set_memory_bytes(container.limits.memory_bytes);
  out.set_log_path(container.log_path);
  out.set_user(container.user);
  for (const int64_t group : container.groups) out.add_groups(group);
  out.set_message_path(container.message_path);
  out.set_message_from_log(container.message_from_log);
  const runtime::Privileges& may = container.privileges;
  *out.mutable_privileges()->mutable_add() = Texts(may.add);
  *out.mutable_privileges()->mutable_drop() = Texts(may.drop);
  out.mutable_privileges()->set_no_new(may.no_new);
  out.mutable_privileges()->set_read_only_root(may.read_only_root);
  return out;
}

runtime::ContainerLaunch Decode(wire::StartContainer message) {
  runtime::ContainerLaunch container;
  container.name = std::move(*message.mutable_name());
  container.attempt = message.attempt();
  container.root.host = message.root().host();
  container.root.layers = Texts(*message.mutable_root()->mutable_layers());
  container.root.python_environment = std::move(*message.mutable_root()->mutable_python_environment());
  container.argv = Texts(*message.mutable_argv());
  container.env = Texts(*message.mutable_env());
  container.working_dir = std::move(*message.mutable_working_dir());
  for (auto& from : *message.mutable_mounts())
    container.mounts.push_back({std::move(*from.mutable_volume()), std::move(*from.mutable_sub_path()),
                                std::move(*from.mutable_target()), from.read_only(),
                                std::move(*from.mutable_host_path())});
  container.limits = {message.limits().cpu_millis(), message.limits().cpu_shares(),
                      message.limits().memory_bytes()};
  container.log_path = std::move(*message.mutable_log_path());
  container.user = std::move(*message.mutable_user());
  container.groups.assign(message.groups().begin(), message.groups().end());
  container.message_path = std::move(*message.mutable_message_path());
  container.message_from_log = message.message_from_log();
  wire::Privileges& may = *message.mutable_privileges();
  container.privileges = {Texts(*may.mutable_add()), Texts(*may.mutable_drop()), may.no_new(),
                          may.read_only_root()};
  return container;
}

wire::Event Encode(const runtime::PodEvent& event) {
  wire::Event out;
  out.set_type(static_cast<int>(event.type));
  out.set_uid(event.uid);
  out.set_container(event.container);
  out.set_attempt(event.attempt);
  out.set_pid(event.pid);
  out.set_exit_code(event.exit_code);
  out.set_signal(event.signal);
  out.set_oom_killed(event.oom_killed);
  out.set_reason(event.reason);
  out.set_message(event.message);
  out.set_steady_ns(event.at.ns);
  out.set_sequence(event.sequence);
  out.set_volume(event.volume);
  out.set_used_bytes(event.used_bytes);
  out.set_size_bytes(event.size_bytes);
  return out;
}

runtime::PodEvent Decode(wire::Event message, Instant at) {
  return {.type = static_cast<runtime::PodEvent::Type>(message.type()),
          .uid = std::move(*message.mutable_uid()),
          .container = std::move(*message.mutable_container()),
          .attempt = message.attempt(),
          .pid = message.pid(),
          .exit_code = message.exit_code(),
          .signal = message.signal(),
          .oom_killed = message.oom_killed(),
          .reason = std::move(*message.mutable_reason()),
          .message = std::move(*message.mutable_message()),
          .at = at,
          .sequence = message.sequence(),
          .volume = std::move(*message.mutable_volume()),
          .used_bytes = message.used_bytes(),
          .size_bytes = message.size_bytes()};
}

namespace {

runtime::KeptContainer DecodeKept(wire::KeptContainer& from, const std::function<Instant(int64_t)>& at) {
  return {.name = std::move(*from.mutable_name()),
          .program = std::move(*from.mutable_program()),
          .attempt = from.attempt(),
          .state = static_cast<runtime::KeptContainer::State>(from.state()),
          .pid = from.pid(),
          .exit_code = from.exit_code(),
          .signal = from.signal(),
          .oom_killed = from.oom_killed(),
          .term_sent = from.term_sent(),
          .reason = std::move(*from.mutable_reason()),
          .message = std::move(*from.mutable_message()),
          .started_at = at(from.started_ns()),
          .finished_at = at(from.finished_ns())};
}

void EncodeKept(const runtime::KeptContainer& from, wire::KeptContainer& out) {
  out.set_name(from.name);
  out.set_program(from.program);
  out.set_attempt(from.attempt);
  out.set_state(static_cast<int>(from.state));
  out.set_pid(from.pid);
  out.set_exit_code(from.exit_code);
  out.set_signal(from.signal);
  out.set_oom_killed(from.oom_killed);
  out.set_term_sent(from.term_sent);
  out.set_reason(from.reason);
  out.set_message(from.message);
  out.set_started_ns(from.started_at.ns);
  out.set_finished_ns(from.finished_at.ns);
}

}  // namespace

wire::Ready Encode(const runtime::Kept& kept) {
  wire::Ready ready;
  for (const runtime::KeptPod& pod : kept.pods) {
    auto& out = *ready.add_pods();
    out.set_uid(pod.uid);
    out.set_ns(pod.ns);
    out.set_name(pod.name);
    out.set_node(pod.node);
    out.set_address(pod.address);
    out.set_sandbox(static_cast<int>(pod.sandbox));
    out.set_reason(pod.reason);
    out.set_message(pod.message);
    for (const auto& container : pod.containers) EncodeKept(container, *out.add_containers());
  }
  for (const runtime::PodEvent& event : kept.events) *ready.add_events() = Encode(event);
  return ready;
}

runtime::Kept Decode(wire::Ready message, const std::function<Instant(int64_t)>& at) {
  runtime::Kept kept{.taken_over = true};
  for (auto& from : *message.mutable_pods()) {
    runtime::KeptPod pod{.uid = std::move(*from.mutable_uid()),
                         .ns = std::move(*from.mutable_ns()),
                         .name = std::move(*from.mutable_name()),
                         .node = std::move(*from.mutable_node()),
                         .address = std::move(*from.mutable_address()),
                         .sandbox = static_cast<runtime::KeptPod::Sandbox>(from.sandbox()),
                         .reason = std::move(*from.mutable_reason()),
                         .message = std::move(*from.mutable_message())};
    for (auto& container : *from.mutable_containers()) pod.containers.push_back(DecodeKept(container, at));
    kept.pods.push_back(std::move(pod));
  }
  for (auto& event : *message.mutable_events()) {
    const Instant when = at(event.steady_ns());
    kept.events.push_back(Decode(std::move(event), when));
  }
  return kept;
}

int64_t SteadyNanoseconds() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tfemu::process
