// Writes events, raising the count of one that happens again (client-go's correlator), and drops old ones.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "emulator/api/event.h"
#include "emulator/base/executor.h"
#include "emulator/manager/registry.h"

namespace tfemu::manager {

class EventRecorder {
 public:
  // Events of objects that are gone which are kept: for whoever asks why they went.
  static constexpr size_t kKeptOfGone = 1000;

  EventRecorder(Executor& executor, Registry& registry) : executor_(executor), registry_(registry) {}

  // Events are a courtesy: one that cannot be written is lost. Those older than an hour go, as on a cluster.
  void Record(const api::Event& event);
  // As Record, unless it was told already since this happened at `occurred`: by a former daemon, which may
  // have died before anything else came of it.
  void RecordOnce(const api::Event& event, Instant occurred);
  // Events of a former run age and count on as this one's do.
  void Adopt();
  void OnWatch(const store::WatchEvent& event);

 private:
  struct Seen {
    api::ObjectKey key;
    std::string uid;
    int count;
    Instant last;  // at the latest
  };
  void Remember(const api::Event& event, Seen seen);
  struct Kept {
    Instant at;
    api::ObjectKey key;
    std::string uid, involved_uid;
  };
  using Number = uint64_t;  // in the order of their coming

  void Keep(Kept event, bool of_gone);
  void TrimGone();
  void Drop(Number number);
  void DropOld(Instant now);
  bool Exists(const api::ObjectReference& involved) const;

  Executor& executor_;
  Registry& registry_;
  std::map<std::string, Seen> seen_;
  std::map<Number, Kept> kept_;
  std::map<std::string, std::set<Number>> of_living_;  // by the uid of what they are about
  std::deque<Number> of_gone_;                         // some of them may be dropped already
  Number next_ = 0;
  Instant last_;
};

}  // namespace tfemu::manager
