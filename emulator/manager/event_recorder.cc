#include "emulator/manager/event_recorder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tfemu::manager {
namespace {

constexpr size_t kMostSeen = 4096;                 // as client-go's cache
constexpr Duration kLife = std::chrono::hours(1);  // kube-apiserver --event-ttl

}  // namespace

void EventRecorder::Record(const api::Event& event) {
  const Instant now = executor_.Now();
  DropOld(now);
  const std::string key = api::CorrelationKey(event);
  if (const auto it = seen_.find(key); it != seen_.end()) {
    Seen& seen = it->second;
    if (registry_.Patch(seen.key, seen.uid, "", api::RepeatEventPatch(seen.count + 1, now)).ok()) {
      ++seen.count;
      return;
    }
    seen_.erase(it);  // deleted meanwhile: it starts again from one
  }
  // The name carries the time: two events of one instant need two names.
  last_ = std::max(now, Instant{last_.ns + 1});
  const auto written = registry_.Create(api::MakeEvent(event, last_), {});
  if (!written.ok()) return;
  if (seen_.size() >= kMostSeen) seen_.clear();
  const api::Object& object = written.value().object;
  seen_.emplace(key, Seen{object.key(), object.uid(), 1});
  kept_.push_back({now, object.key(), object.uid()});
}

void EventRecorder::DropOld(Instant now) {
  for (; !kept_.empty() && kept_.front().at + kLife < now; kept_.pop_front())
    (void)registry_.Remove(kept_.front().key, kept_.front().uid).ok();  // gone already is as good
}

void EventRecorder::Adopt() {
  for (const api::Object& event : registry_.List({"Event", ""}, {}).objects)
    kept_.push_back({api::DecodeMeta(event).creation_timestamp, event.key(), event.uid()});
  std::ranges::sort(kept_, {}, &Kept::at);
}

}  // namespace tfemu::manager
