#include "emulator/manager/event_recorder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tfemu::manager {
namespace {

constexpr size_t kMostSeen = 4096;                                        // as client-go's cache
constexpr Duration kToTheSecond = std::chrono::nanoseconds(999'999'999);  // what a stored time may lack
constexpr Duration kLife = std::chrono::hours(1);                         // kube-apiserver --event-ttl

}  // namespace

void EventRecorder::Record(const api::Event& event) {
  const Instant now = executor_.Now();
  DropOld(now);
  const std::string key = api::CorrelationKey(event);
  if (const auto it = seen_.find(key); it != seen_.end()) {
    Seen& seen = it->second;
    if (registry_.Patch(seen.key, seen.uid, "", api::RepeatEventPatch(seen.count + 1, now)).ok()) {
      ++seen.count;
      seen.last = now;
      return;
    }
    seen_.erase(it);  // deleted meanwhile: it starts again from one
  }
  // The name carries the time: two events of one instant need two names.
  last_ = std::max(now, Instant{last_.ns + 1});
  const auto written = registry_.Create(api::MakeEvent(event, last_), {});
  if (!written.ok()) return;
  const api::Object& object = written.value().object;
  Remember(event, {object.key(), object.uid(), 1, now});
  Keep({now, object.key(), object.uid(), event.involved.uid}, !Exists(event.involved));
}

void EventRecorder::Remember(const api::Event& event, Seen seen) {
  if (seen_.size() >= kMostSeen) seen_.clear();
  seen_.insert_or_assign(api::CorrelationKey(event), std::move(seen));
}

void EventRecorder::RecordOnce(const api::Event& event, Instant occurred) {
  const auto told = seen_.find(api::CorrelationKey(event));
  if (told == seen_.end() || told->second.last < occurred) Record(event);
}

bool EventRecorder::Exists(const api::ObjectReference& involved) const {
  const auto live = registry_.Get({involved.kind, involved.ns, involved.name});
  return live.ok() && live.value().uid() == involved.uid;
}

void EventRecorder::Keep(Kept event, bool of_gone) {
  if (of_gone) of_gone_.push_back(next_);
  else of_living_[event.involved_uid].insert(next_);
  kept_.emplace(next_++, std::move(event));
  TrimGone();
}

void EventRecorder::TrimGone() {
  for (; of_gone_.size() > kKeptOfGone; of_gone_.pop_front()) Drop(of_gone_.front());
}

void EventRecorder::Drop(Number number) {
  const auto event = kept_.find(number);
  if (event == kept_.end()) return;
  if (const auto living = of_living_.find(event->second.involved_uid); living != of_living_.end()) {
    living->second.erase(number);
    if (living->second.empty()) of_living_.erase(living);
  }
  (void)registry_.Remove(event->second.key, event->second.uid).ok();  // gone already is as good
  kept_.erase(event);
}

void EventRecorder::OnWatch(const store::WatchEvent& event) {
  if (event.type != store::WatchType::kDeleted) return;
  const auto living = of_living_.find(event.object.uid());
  if (living == of_living_.end()) return;
  of_gone_.insert(of_gone_.end(), living->second.begin(), living->second.end());
  of_living_.erase(living);
  TrimGone();
}

void EventRecorder::DropOld(Instant now) {
  while (!kept_.empty() && kept_.begin()->second.at + kLife < now) Drop(kept_.begin()->first);
}

void EventRecorder::Adopt() {
  auto events = registry_.List({"Event", ""}, {}).objects;
  std::ranges::sort(events, {},
                    [](const api::Object& event) { return api::DecodeMeta(event).creation_timestamp.ns; });
  for (const api::Object& event : events) {
    const api::ToldEvent told = api::DecodeEvent(event);
    const api::ObjectReference& involved = told.event.involved;
    Remember(told.event, {event.key(), event.uid(), told.count, told.last + kToTheSecond});
    Keep({api::DecodeMeta(event).creation_timestamp, event.key(), event.uid(), involved.uid},
         !Exists(involved));
  }
}

}  // namespace tfemu::manager
