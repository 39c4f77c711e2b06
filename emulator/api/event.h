// v1.Event: what happened to an object, in the words of whoever saw it.
#pragma once

#include <string>

#include "emulator/api/meta.h"

namespace tfemu::api {

struct Event {
  ObjectReference involved;
  bool warning = false;
  std::string reason, message;
  std::string component;  // "tfjob-controller", "kubelet", "default-scheduler"
  std::string host;       // a kubelet's node, or ""
  friend bool operator==(const Event&, const Event&) = default;
};

ObjectReference InvolvedObject(const Object& event);

// As it is stored: how often it was told, and when last (to the second).
struct ToldEvent {
  Event event;
  int count = 1;
  Instant last;
};
ToldEvent DecodeEvent(const Object& event);

// The same occurrence again raises the count of the first (client-go's correlator).
std::string CorrelationKey(const Event& event);

// As client-go's recorder writes it; the scheduler's events have the newer form (action, eventTime).
Json MakeEvent(const Event& event, Instant now);
// Merge patch for a repeated event.
Json RepeatEventPatch(int count, Instant now);

}  // namespace tfemu::api
