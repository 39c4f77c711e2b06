// Runs the probes of running containers, each at its own pace, and their lifecycle handlers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "emulator/api/pod.h"
#include "emulator/controllers/probe_tracker.h"
#include "runtime/probe.h"

namespace tfemu::manager {

class Prober {
 public:
  struct Listener {
    std::function<void(const std::string& uid)> changed;  // started or ready became something else
    // The container is to be killed; `why` is the sentence of the Killing event.
    std::function<void(const std::string& uid, const std::string& container, const std::string& why)> kill;
    std::function<void(const std::string& uid, const std::string& message)> unhealthy;  // for a Warning event
  };
  // `runner` may be null: then every probe succeeds, as in a simulation that scripts none.
  Prober(Executor& executor, runtime::ProbeRunner* runner, int64_t time_scale, Listener listener);
  ~Prober() { *alive_ = false; }

  void Start(const api::Pod& pod, const api::Container& container, const std::string& address);
  // Of a container that an earlier prober watched and that has run for `age`: it stays what it was until a
  // probe says otherwise.
  void Resume(const api::Pod& pod, const api::Container& container, const std::string& address,
              const api::ContainerStatus& was, Duration age);
  void Stop(const std::string& uid, const std::string& container);

  // True for a container that is not probed.
  bool started(const std::string& uid, const std::string& container) const;
  bool ready(const std::string& uid, const std::string& container) const;

  // postStart, preStop: `done` with the outcome; at once when there is nothing to do.
  void Handle(const api::Pod& pod, const api::Container& container, const std::string& address,
              const api::HandlerAction& action, Duration timeout,
              std::function<void(const runtime::ProbeOutcome&)> done);

 private:
  using Key = std::pair<std::string, std::string>;
  struct Watched {
    uint64_t id;  // of this run: a late answer of an earlier one is ignored
    api::Container container;
    std::string address;
    controllers::ProbeTracker tracker;
  };
  void Watch(const Key& key, Watched watched, Duration age);
  void Later(const Key& key, uint64_t id, controllers::ProbeType type, Duration wait);
  void Ask(const Key& key, uint64_t id, controllers::ProbeType type);
  void OnAnswer(const Key& key, uint64_t id, controllers::ProbeType type,
                const runtime::ProbeOutcome& outcome);
  Watched* Find(const Key& key, uint64_t id);

  Executor& executor_;
  runtime::ProbeRunner* runner_;
  int64_t time_scale_;
  Listener listener_;
  std::map<Key, Watched> watched_;
  uint64_t next_id_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::manager
