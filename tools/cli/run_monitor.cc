#include "tools/cli/run_monitor.h"

#include <algorithm>

#include "emulator/api/scheme.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::cli {
namespace {

// The scheduler and the binder need a moment before "waits" means "will wait for ever".
constexpr Duration kPatience = std::chrono::seconds(3);

std::string Name(const api::ObjectKey& key) {
  const auto* kind = api::FindKind(key.kind);
  return (kind == nullptr ? key.kind : std::string(kind->singular)) + "/" + key.name;
}

bool IsImageRefusal(const std::string& reason) {
  return reason == "ErrImagePull" || reason == "ImagePullBackOff" || reason == "InvalidImageName" ||
         reason == "ErrImageNeverPull";
}

std::string HelpAgainst(const std::string& sentence) {
  if (sentence.find("nvidia.com/gpu") != std::string::npos)
    return "give the cluster more GPUs: tfemu down, then tfemu up --gpus N; or tfemu run --gpus N";
  if (sentence.find("persistentvolumeclaim") != std::string::npos)
    return "add the claim, and a volume that fits it, to the manifests; tfemu get pv,pvc shows what there is";
  if (sentence.find("Insufficient cpu") != std::string::npos)
    return "lower the pods' requests, or say that nodes have more: --cpus N (the pods share this host's "
           "CPUs)";
  if (sentence.find("Insufficient memory") != std::string::npos)
    return "lower the pods' requests, or give the nodes more in cluster.yaml (tfemu up --config)";
  if (sentence.find("selector") != std::string::npos || sentence.find("taint") != std::string::npos)
    return "label or untaint nodes in cluster.yaml (tfemu up --config)";
  return "tfemu describe pod says what it waits for";
}

// Where and why a pod's container ended badly.
std::string FailureOf(const api::PodView& pod) {
  for (const auto& container : pod.containers)
    if (container.state == api::ContainerView::State::kTerminated && container.exit_code != 0)
      return "container " + container.name + " ended with " + std::to_string(container.exit_code) +
             (container.reason.empty() || container.reason == "Error" ? "" : " (" + container.reason + ")") +
             (container.message.empty() ? "" : ": " + container.message);
  return pod.status_word;
}

}  // namespace

RunMonitor::RunMonitor(const std::vector<api::ObjectKey>& items, Say say) : say_(std::move(say)) {
  for (const auto& key : items) items_.push_back({key});
}

RunItem* RunMonitor::Find(const api::ObjectKey& key) {
  const auto found = std::ranges::find(items_, key, &RunItem::key);
  return found == items_.end() ? nullptr : &*found;
}

bool RunMonitor::IsOurs(const api::Object& object) const {
  const auto owner = api::ControllerOf(object);
  return owner && owners_.contains(owner->uid);
}

void RunMonitor::Observe(const api::Object& object, Instant now) {
  if (object.key().kind == "Event") {
    ObserveEvent(api::ViewEvent(object));
    return;
  }
  // A list may be newer than the first events of a watch. The same revision is looked at again: a pod that
  // was listed before its job was seen becomes ours only then.
  uint64_t& known = revisions_[object.uid()];
  if (object.resource_version() != 0 && object.resource_version() < known) return;
  known = object.resource_version();
  RunItem* item = Find(object.key());
  if (item != nullptr || IsOurs(object)) owners_.insert(object.uid());
  if (object.key().kind == "Pod") ObservePod(object);
  if (item != nullptr) ObserveItem(*item, object, now);
}

void RunMonitor::Forget(const api::Object& object, Instant now) {
  pods_.erase(object.key());
  RunItem* item = Find(object.key());
  if (item != nullptr && item->state == RunItem::State::kWaiting)
    Settle(*item, RunItem::State::kFailed, "was deleted", now);
}

void RunMonitor::ObservePod(const api::Object& object) {
  SeenPod pod{api::ViewPod(object)};
  if (const auto owner = api::ControllerOf(object)) pod.owner_uid = owner->uid, pod.owner_kind = owner->kind;
  pod.ours = IsOurs(object) || Find(object.key()) != nullptr;
  if (const auto bill = api::EciBillOf(object); bill && pod.ours) bills_[bill->id] = *bill;
  pods_[object.key()] = std::move(pod);
}

void RunMonitor::ObserveItem(RunItem& item, const api::Object& object, Instant now) {
  if (item.state != RunItem::State::kWaiting) return;
  std::string word;
  if (item.key.kind == "Pod") {
    const auto pod = api::ViewPod(object);
    word = pod.phase;
    const bool serves = pod.restart_policy == "Always" && pod.phase == "Running";
    if (pod.phase == "Succeeded" || serves) Settle(item, RunItem::State::kDone, "", now);
    else if (pod.phase == "Failed") Settle(item, RunItem::State::kFailed, FailureOf(pod), now);
  } else {
    for (const auto& condition : api::ConditionsOf(object)) {
      if (condition.status != "True") continue;
      word = condition.type;
      if (condition.type == "Succeeded" || condition.type == "Complete" || condition.type == "Available")
        Settle(item, RunItem::State::kDone, "", now);
      else if (condition.type == "Failed") Settle(item, RunItem::State::kFailed, condition.message, now);
      if (item.state != RunItem::State::kWaiting) break;
    }
  }
  if (word.empty() || word == item.word) return;
  item.word = word;
  say_(Importance::kProgress, Name(item.key) + " " + word);
}

void RunMonitor::Settle(RunItem& item, RunItem::State state, const std::string& message, Instant now) {
  item.state = state;
  item.message = message;
  item.ended = now;
}

void RunMonitor::ObserveEvent(const api::EventView& event) {
  if (event.type != "Warning") return;
  const bool about_item = Find({event.kind, event.ns, event.name}) != nullptr;
  const auto pod = pods_.find({"Pod", event.ns, event.name});
  if (!about_item && (pod == pods_.end() || !pod->second.ours)) return;
  const std::string line =
      Name({event.kind, event.ns, event.name}) + " " + event.reason + ": " + event.message;
  if (said_.insert(line).second) say_(Importance::kWarning, line);
}

std::optional<Error> RunMonitor::Refusal() const {
  for (const auto& [key, pod] : pods_)
    if (pod.ours)
      for (const auto& container : pod.view.containers)
        if (container.state == api::ContainerView::State::kWaiting && IsImageRefusal(container.reason))
          return Error{Reason::kUnavailable,
                       Name(key) + ": " + container.reason +
                           (container.message.empty() ? "" : ": " + container.message),
                       "tfemu image check FILE says what each image reference runs here"};
  return std::nullopt;
}

// A pod that waits for room waits in vain when only its own siblings and services hold it: they don't end
// first.
const api::PodView* RunMonitor::Blocked() const {
  for (const auto& [key, pod] : pods_) {
    if (!pod.ours || pod.view.over() || !pod.view.node.empty() || pod.view.unschedulable.empty()) continue;
    const bool may_get_room = std::ranges::any_of(pods_, [&](const auto& entry) {
      const SeenPod& other = entry.second;
      return !other.view.over() && !other.view.node.empty() && other.owner_kind != "ReplicaSet" &&
             (other.owner_uid.empty() || other.owner_uid != pod.owner_uid);
    });
    if (!may_get_room) return &pod.view;
  }
  return nullptr;
}

std::optional<Error> RunMonitor::Stuck(Instant now) {
  const auto* pod = Blocked();
  if (pod == nullptr) {
    blocked_since_.reset();
    return std::nullopt;
  }
  if (!blocked_since_) blocked_since_ = now;
  if (now - *blocked_since_ < kPatience) return std::nullopt;
  return Error{Reason::kUnavailable, "pod/" + pod->name + " finds no place: " + pod->unschedulable,
               HelpAgainst(pod->unschedulable)};
}

std::optional<RunMonitor::Outcome> RunMonitor::Judge(Instant now) {
  for (const auto& item : items_)
    if (item.state == RunItem::State::kFailed)
      return Outcome{kRunFailed, Error{Reason::kInvalid, Name(item.key) + " failed: " + item.message,
                                       "its output is above; --logs DIR keeps it"}};
  if (std::ranges::all_of(items_, [](const RunItem& item) { return item.state == RunItem::State::kDone; }))
    return Outcome{kRunSucceeded, std::nullopt};
  if (auto refusal = Refusal()) return Outcome{kRunImpossible, std::move(refusal)};
  if (auto stuck = Stuck(now)) return Outcome{kRunImpossible, std::move(stuck)};
  return std::nullopt;
}

std::vector<api::EciBill> RunMonitor::bills() const {
  std::vector<api::EciBill> bills;
  for (const auto& [id, bill] : bills_) bills.push_back(bill);
  return bills;
}

std::string RunMonitor::StatusLine(Duration elapsed) const {
  int pending = 0, running = 0, succeeded = 0, failed = 0;
  for (const auto& [key, pod] : pods_) {
    if (!pod.ours) continue;
    pending += pod.view.phase == "Pending", running += pod.view.phase == "Running";
    succeeded += pod.view.phase == "Succeeded", failed += pod.view.phase == "Failed";
  }
  std::vector<std::string> parts;
  for (const auto& item : items_)
    if (item.state == RunItem::State::kWaiting)
      parts.push_back(Name(item.key) + " " + (item.word.empty() ? "..." : item.word));
  return Join(parts, ", ") + " | pods: " + std::to_string(pending) + " pending, " + std::to_string(running) +
         " running, " + std::to_string(succeeded) + " succeeded, " + std::to_string(failed) + " failed | " +
         FormatAge(elapsed);
}

}  // namespace tfemu::cli
