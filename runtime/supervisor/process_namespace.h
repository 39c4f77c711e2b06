// A pid namespace that the containers of a pod share (shareProcessNamespace), and its first process, which
// does nothing but reap.
#pragma once

#include <functional>
#include <optional>

#include "runtime/supervisor/pod_host.h"
#include "runtime/supervisor/started_process.h"

namespace tfemu::supervisor {

class ProcessNamespace {
 public:
  // `ended` comes when nothing is left in it.
  Result<void> Start(PodHost& host, const process::PodNamespaces& pod, std::function<void()> ended);
  // Kills all that is in it.
  void Stop();
  bool running() const { return reaper_.has_value(); }
  int pidfd() const { return reaper_ ? reaper_->pidfd() : -1; }

 private:
  std::optional<StartedProcess> reaper_;
};

}  // namespace tfemu::supervisor
