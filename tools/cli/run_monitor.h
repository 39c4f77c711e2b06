// What `run` makes of the objects it sees: how far its jobs are, and whether they can still get there.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emulator/api/eci_bill.h"
#include "emulator/api/object.h"
#include "emulator/api/view.h"
#include "emulator/base/error.h"
#include "emulator/base/executor.h"

namespace tfemu::cli {

// Exit codes fixed for `run`.
inline constexpr int kRunSucceeded = 0, kRunFailed = 1, kRunWrong = 2, kRunImpossible = 3, kRunTimeout = 124,
                     kRunInterrupted = 130;

struct RunItem {
  enum class State { kWaiting, kDone, kFailed };
  api::ObjectKey key;
  State state = State::kWaiting;
  std::string word;     // "Running", "Succeeded", "Available"
  std::string message;  // why it failed
  std::optional<Instant> ended = {};
};

class RunMonitor {
 public:
  enum class Importance { kProgress, kWarning };
  using Say = std::function<void(Importance, const std::string&)>;
  struct Outcome {
    int code;
    std::optional<Error> error;
  };

  // Items are TFJobs, Pods and Deployments.
  RunMonitor(const std::vector<api::ObjectKey>& items, Say say);

  void Observe(const api::Object& object, Instant now);
  void Forget(const api::Object& object, Instant now);  // it was deleted
  // The end, when it has come: all done, one failed, or one that can't go on in this cluster.
  std::optional<Outcome> Judge(Instant now);
  std::string StatusLine(Duration elapsed) const;
  // What the ECI instances of its pods cost, gone ones too.
  std::vector<api::EciBill> bills() const;
  const std::vector<RunItem>& items() const { return items_; }

 private:
  RunItem* Find(const api::ObjectKey& key);
  void ObserveItem(RunItem& item, const api::Object& object, Instant now);
  void ObservePod(const api::Object& object);
  void ObserveEvent(const api::EventView& event);
  void Settle(RunItem& item, RunItem::State state, const std::string& message, Instant now);
  bool IsOurs(const api::Object& object) const;
  std::optional<Error> Refusal() const;  // an image that can't be had
  const api::PodView* Blocked() const;   // waits, and nobody is there to make room
  std::optional<Error> Stuck(Instant now);

  struct SeenPod {
    api::PodView view;
    std::string owner_uid, owner_kind;
    bool ours = false;
  };
  std::vector<RunItem> items_;
  Say say_;
  std::set<std::string> owners_;  // uids of the items and of what they own
  std::map<api::ObjectKey, SeenPod> pods_;
  std::map<std::string, api::EciBill> bills_;  // by instance
  std::map<std::string, uint64_t> revisions_;  // the newest seen of each object, by uid
  std::set<std::string> said_;
  std::optional<Instant> blocked_since_;
};

}  // namespace tfemu::cli
