// What a run shows to those who judge it: every write and everything that happens to a pod, in order.
#pragma once

#include "emulator/store/store.h"
#include "runtime/sim_runtime.h"

namespace tfemu::sim {

class SimHost;

class Observer {
 public:
  virtual ~Observer() = default;
  // `before` is null when the object is new.
  virtual void OnWrite(const api::Object* /*before*/, const api::Object& /*after*/,
                       store::Revision /*revision*/) {}
  virtual void OnErase(const api::Object& /*last*/, store::Revision /*revision*/) {}
  virtual void OnWatchEvent(const store::WatchEvent& /*event*/) {}  // as a client of the daemons sees it
  virtual void OnPodEvent(const runtime::PodEvent& /*event*/) {}
  virtual void OnSupervisorDied() {}
  virtual void OnBoot() {}
  // Nothing more happens at this instant, a daemon runs, and it has been told everything.
  virtual void OnSettled(const SimHost& /*host*/) {}
};

}  // namespace tfemu::sim
