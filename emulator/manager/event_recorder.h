// Writes events, raising the count of one that happens again (client-go's correlator).
#pragma once

#include <map>
#include <string>

#include "emulator/api/event.h"
#include "emulator/base/executor.h"
#include "emulator/manager/registry.h"

namespace tfemu::manager {

class EventRecorder {
 public:
  EventRecorder(Executor& executor, Registry& registry) : executor_(executor), registry_(registry) {}

  // Events are a courtesy: one that cannot be written is lost.
  void Record(const api::Event& event);

 private:
  struct Seen {
    api::ObjectKey key;
    std::string uid;
    int count;
  };
  Executor& executor_;
  Registry& registry_;
  std::map<std::string, Seen> seen_;
  Instant last_;
};

}  // namespace tfemu::manager
