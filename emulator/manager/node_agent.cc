#include "emulator/manager/node_agent.h"

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "emulator/api/eci_settings.h"
#include "emulator/api/node.h"
#include "emulator/manager/lister.h"
#include "emulator/manager/pod_admission.h"

namespace tfemu::manager {
namespace {

using controllers::ContainerRun;
using controllers::NodePodOrder;
using controllers::Obstacle;
using controllers::PodOrder;
using controllers::PodRun;

bool NotStarted(const PodRun& run) {
  return run.sandbox == PodRun::Sandbox::kNone || run.sandbox == PodRun::Sandbox::kStopped;
}

}  // namespace

NodeAgent::NodeAgent(const NodeAgentDeps& deps, LaunchSettings settings, int64_t time_scale)
    : deps_(deps),
      launcher_(deps.store, deps.images, settings),
      eci_(settings.eci),
      time_scale_(time_scale),
      queue_(deps.executor, [this](const api::ObjectKey& key) { return Sync(key); }),
      gpus_(deps.executor, deps.gpu_files, settings.state_folder),
      prober_(deps.executor, deps.probes, time_scale, ProbeListener()),
      receipts_(deps.executor, [this](uint64_t sequence) { deps_.runtime.Acknowledge(sequence); }) {
  deps_.runtime.SetSink([this](const runtime::PodEvent& event) { OnPodEvent(event); });
}

void NodeAgent::OnWatch(const store::WatchEvent& event) {
  if (event.object.key().kind == "Pod") {
    if (event.type == store::WatchType::kDeleted) Forget(event.object.uid());
    queue_.Add(event.object.key());
  } else if (event.object.key().kind == "ConfigMap" || event.object.key().kind == "Secret" ||
             event.object.key().kind == "PersistentVolumeClaim") {
    // Pods that wait for it look again at once.
    for (auto& [uid, entry] : entries_)
      if (NotStarted(entry.run)) queue_.Add(entry.key);
    if (event.type != store::WatchType::kDeleted) RefreshFiles(event.object.key());
  }
}

// The object is gone without having been stopped first: whatever still runs of it ends now.
void NodeAgent::Forget(const std::string& uid) {
  receipts_.Settle(uid);
  const auto it = entries_.find(uid);
  if (it == entries_.end()) return;
  if (!NotStarted(it->second.run) && it->second.run.sandbox != PodRun::Sandbox::kStopping)
    deps_.runtime.StopPod(uid);
  if (NotStarted(it->second.run)) addresses_.Give(it->second.address);
  if (NotStarted(it->second.run)) entries_.erase(it);
}

NodeAgent::Entry& NodeAgent::EntryFor(const api::Pod& pod) {
  return entries_.try_emplace(pod.meta.uid, Entry{pod.key(), {}, {}, {}, {}, {}, {}, {}, false, {}})
      .first->second;
}

Result<void> NodeAgent::Sync(const api::ObjectKey& key) {
  const auto object = deps_.store.Get(key);
  if (!object.ok()) return {};
  const api::Pod& pod = object.value().As(api::DecodePod);
  if (pod.spec.node_name.empty()) return {};
  Entry& entry = EntryFor(pod);
  // It ended in a former run: its status is all that is known.
  const bool over =
      entry.run.sandbox == PodRun::Sandbox::kNone && pod.finished() && !pod.meta.deletion_timestamp;
  if (over || (NotStarted(entry.run) && !Welcome(pod, entry))) {
    receipts_.Settle(pod.meta.uid);
    return {};
  }
  const auto plan = controllers::ReconcileNodePod(Observe(pod, entry));
  entry.run.kill_at = plan.kill_at;
  for (const NodePodOrder& order : plan.orders) RETURN_IF_ERROR(Obey(pod, entry, order));
  // The runtime is at work by now; what is said of it costs a write each.
  for (const auto& event : plan.events) {
    const api::Event said = Said(pod, event.warning, event.reason, event.message);
    if (event.occurred) deps_.events.RecordOnce(said, *event.occurred);
    else deps_.events.Record(said);
  }
  if (plan.status != pod.status) {
    const auto written =
        deps_.registry.Patch(key, pod.meta.uid, "/status", api::EncodePodStatus(plan.status));
    if (!written.ok() && written.error().reason != Reason::kNotFound) return written.error();
  }
  receipts_.Settle(pod.meta.uid);
  if (plan.requeue_after) queue_.AddAfter(key, *plan.requeue_after);
  return {};
}

bool NodeAgent::Welcome(const api::Pod& pod, Entry& entry) {
  if (pod.finished() || pod.meta.deletion_timestamp) return true;
  const auto node = deps_.store.Get({"Node", "", pod.spec.node_name});
  if (node.ok()) return Admitted(pod, node.value().As(api::DecodeNode));
  if (!std::exchange(entry.node_missing, true))
    Say(pod, true, "NodeNotFound",
        "node \"" + pod.spec.node_name + "\" is not there: nobody starts this pod");
  return false;
}

controllers::NodePodObservation NodeAgent::Observe(const api::Pod& pod, Entry& entry) {
  for (auto& [name, run] : entry.run.containers) {
    run.started = prober_.started(pod.meta.uid, name);
    run.ready = prober_.ready(pod.meta.uid, name);
  }
  controllers::NodePodObservation observed{pod, entry.run};
  observed.now = deps_.executor.Now();
  observed.time_scale = time_scale_;
  if (NotStarted(entry.run) && !pod.finished() && !pod.meta.deletion_timestamp)
    observed.obstacles = Obstacles(pod, entry);
  observed.address = entry.address.empty() ? pod.status.pod_ip : entry.address;
  const auto node = deps_.store.Get({"Node", "", pod.spec.node_name});
  if (node.ok()) observed.host_address = node.value().As(api::DecodeNode).internal_ip;
  observed.image_ids = entry.image_ids;
  return observed;
}

DownwardContext NodeAgent::Context(const api::Pod& pod, const Entry& entry) const {
  DownwardContext context{pod, entry.address, "", {}, {}};
  const auto object = deps_.store.Get({"Node", "", pod.spec.node_name});
  if (!object.ok()) return context;
  const api::Node& node = object.value().As(api::DecodeNode);
  context.host_ip = node.internal_ip;
  context.node_allocatable = node.allocatable;
  context.node_gpus = node.gpus;
  if (const auto instance = api::EciInstanceOf(pod.meta); instance && node.gpus.devices.empty())
    context.node_gpus = api::EciGpus(*instance, pod.meta);
  return context;
}

std::vector<Obstacle> NodeAgent::Obstacles(const api::Pod& pod, Entry& entry) {
  std::vector<Obstacle> obstacles;
  if (EciStarting(pod, entry)) return {{"", "ContainerCreating", ""}};
  for (const auto* list : {&pod.spec.init_containers, &pod.spec.containers}) {
    for (const api::Container& container : *list) {
      if (auto obstacle = ImageObstacle(pod, container)) obstacles.push_back(std::move(*obstacle));
      else if (const auto launch = launcher_.Container(Context(pod, entry), container, 0); !launch.ok())
        obstacles.push_back({container.name, "CreateContainerConfigError", launch.error().message});
    }
  }
  const auto launch = launcher_.Pod(Context(pod, entry));
  if (!launch.ok()) {
    obstacles.push_back({"", "ContainerCreating", ""});
    const bool elsewhere = launch.error().message.starts_with("Multi-Attach");
    if (entry.mount_problem != launch.error().message)
      Say(pod, true, elsewhere ? "FailedAttachVolume" : "FailedMount", launch.error().message);
    entry.mount_problem = launch.error().message;
  } else {
    entry.mount_problem.clear();
  }
  return obstacles;
}

bool NodeAgent::EciStarting(const api::Pod& pod, Entry& entry) {
  const Instant now = deps_.executor.Now();
  if (!entry.eci_start) {
    entry.eci_start = PlanEciStart(eci_, pod, [this](const std::string& reference) {
      const auto image = deps_.images.Find(reference);
      return image.ok() ? image.value().size_bytes : 0;
    });
    // A pod that has a status was begun by a former daemon, which has said so.
    const bool begun = pod.status.start_time.has_value();
    entry.eci_ready = pod.status.start_time.value_or(now) + entry.eci_start->wait / time_scale_;
    for (const auto& word : entry.eci_start->first)
      if (!begun) Say(pod, false, word.reason, word.message);
    if (now < entry.eci_ready) queue_.AddAfter(entry.key, entry.eci_ready - now);
  }
  if (now < entry.eci_ready) return true;
  for (const auto& word : std::exchange(entry.eci_start->last, {}))
    Say(pod, false, word.reason, word.message);
  return false;
}

std::optional<Obstacle> NodeAgent::ImageObstacle(const api::Pod& pod, const api::Container& container) {
  const auto image = deps_.images.Find(container.image);
  if (!image.ok()) return Obstacle{container.name, "ErrImagePull", image.error().message};
  if (deps_.images.Ready(image.value())) return std::nullopt;
  if (const auto failed = image_errors_.find(image.value().id); failed != image_errors_.end())
    return Obstacle{container.name, "ErrImagePull", failed->second};
  Prepare(pod, container, image.value());
  return Obstacle{container.name, "ContainerCreating", ""};
}

void NodeAgent::Prepare(const api::Pod& pod, const api::Container& container, const runtime::Image& image) {
  if (!preparing_.insert(image.id).second) return;
  Say(pod, false, "Pulling", "Pulling image \"" + container.image + "\"");
  const auto done = [this, id = image.id, key = pod.key(),
                     reference = container.image](const Result<void>& result) {
    preparing_.erase(id);
    if (!result.ok())
      image_errors_[id] = "failed to pull image \"" + reference + "\": " + result.error().message;
    const auto object = deps_.store.Get(key);
    if (object.ok() && !result.ok()) Say(api::DecodePod(object.value()), true, "Failed", image_errors_[id]);
    if (object.ok() && result.ok())
      Say(api::DecodePod(object.value()), false, "Pulled", "Successfully pulled image \"" + reference + "\"");
    for (auto& [uid, entry] : entries_)
      if (NotStarted(entry.run)) queue_.Add(entry.key);
  };
  deps_.images.Prepare(
      image, [](const runtime::PrepareProgress&) {}, done);
}

Result<void> NodeAgent::Obey(const api::Pod& pod, Entry& entry, const NodePodOrder& order) {
  switch (order.order) {
    case PodOrder::kStartSandbox: StartSandbox(pod, entry); return {};
    case PodOrder::kStartContainer: StartContainer(pod, entry, order); return {};
    case PodOrder::kTerminate: Terminate(pod, entry, order.container); return {};
    case PodOrder::kStopSandbox:
      entry.run.sandbox = PodRun::Sandbox::kStopping;
      deps_.runtime.StopPod(pod.meta.uid);
      return {};
    case PodOrder::kRemove: return RemoveStopped(pod);
  }
  return {};
}

// One with finalizers is ended and left to whoever put them there.
Result<void> NodeAgent::RemoveStopped(const api::Pod& pod) {
  if (pod.meta.finalizers.empty()) return deps_.registry.Remove(pod.key(), pod.meta.uid);
  if (pod.finished()) return {};
  const auto ended = deps_.registry.Patch(pod.key(), pod.meta.uid, "/status", api::FailedPatch("", ""));
  return ended.ok() || ended.error().reason == Reason::kNotFound ? Result<void>() : ended.error();
}

void NodeAgent::StartSandbox(const api::Pod& pod, Entry& entry) {
  if (entry.address.empty()) {
    const auto node = deps_.store.Get({"Node", "", pod.spec.node_name});
    const auto address =
        addresses_.Take(node.ok() ? node.value().As(api::DecodeNode).pod_cidr : "10.244.0.0/24");
    if (!address.ok()) return Say(pod, true, "FailedCreatePodSandBox", address.error().message);
    entry.address = address.value();
  }
  const auto launch = launcher_.Pod(Context(pod, entry));
  if (!launch.ok()) return Say(pod, true, "FailedMount", launch.error().message);
  entry.run.sandbox = PodRun::Sandbox::kStarting;
  deps_.runtime.StartPod(launch.value());
}

void NodeAgent::StartContainer(const api::Pod& pod, Entry& entry, const NodePodOrder& order) {
  if (entry.run.sandbox != PodRun::Sandbox::kStarting && entry.run.sandbox != PodRun::Sandbox::kReady) return;
  const api::Container* container = api::FindContainer(pod.spec, order.container);
  ContainerRun& run = entry.run.containers[order.container];
  if (run.state == ContainerRun::State::kExited) run.last_termination = controllers::Termination(run);
  run.attempt = order.attempt;
  run.term_sent = false;
  run.reason.clear();
  run.message.clear();
  run.exit_code = 0;
  run.oom_killed = false;
  const auto launch = launcher_.Container(Context(pod, entry), *container, order.attempt);
  if (!launch.ok()) {  // a ConfigMap went since the sandbox was started
    run.state = ContainerRun::State::kExited;
    run.exit_code = 128;
    run.reason = "CreateContainerConfigError";
    run.message = launch.error().message;
    run.started_at = run.finished_at = deps_.executor.Now();
    run.back_off = controllers::NextBackOff(run.back_off, Duration(0));
    return;
  }
  if (const auto image = deps_.images.Find(container->image); image.ok())
    entry.image_ids[container->name] = image.value().id;
  const std::string program = launch.value().argv.empty() ? "" : launch.value().argv.front();
  const auto attached = gpus_.Attach(pod, container->name, Context(pod, entry).node_gpus, program);
  if (!attached.ok()) Say(pod, true, "Failed", "GPUs are not shown: " + attached.error().message);
  run.state = ContainerRun::State::kStarting;
  deps_.runtime.StartContainer(pod.meta.uid, launch.value());
}

api::Event NodeAgent::Said(const api::Pod& pod, bool warning, const std::string& reason,
                           const std::string& message) {
  const api::ObjectReference self{"v1",          "Pod",        pod.meta.ns,
                                  pod.meta.name, pod.meta.uid, pod.meta.resource_version};
  return {self, warning, reason, message, "kubelet", pod.spec.node_name};
}

void NodeAgent::Say(const api::Pod& pod, bool warning, const std::string& reason,
                    const std::string& message) {
  deps_.events.Record(Said(pod, warning, reason, message));
}

}  // namespace tfemu::manager
