// Writes events, raising the count of one that happens again (client-go's correlator).
#pragma once

#include <deque>
#include <map>
#include <string>

#include "emulator/api/event.h"
#include "emulator/base/executor.h"
#include "emulator/manager/registry.h"

namespace tfemu::manager {

class EventRecorder {
 public:
  EventRecorder(Executor& executor, Registry& registry) : executor_(executor), registry_(registry) {}

  // Events are a courtesy: one that cannot be written is lost. Those older than an hour go, as on a cluster.
  void Record(const api::Event& event);
  // Events of a former run age as this one's do.
  void Adopt();

 private:
  struct Seen {
    api::ObjectKey key;
    std::string uid;
    int count;
  };
  Executor& executor_;
  Registry& registry_;
  struct Kept {
    Instant at;
    api::ObjectKey key;
    std::string uid;
  };
  void DropOld(Instant now);
  std::map<std::string, Seen> seen_;
  std::deque<Kept> kept_;  // oldest first
  Instant last_;
};

}  // namespace tfemu::manager
