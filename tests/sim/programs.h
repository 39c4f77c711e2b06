// The programs that simulated containers run: their command line says what they do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/sim_runtime.h"

namespace tfemu::sim {

// A container with the command ["sim", KEY, STEP...] does STEP after STEP, one a run, and the last for ever.
// A step is made of words: "run=SECONDS" (without it, it runs until it is ended), "exit=CODE", "slow=SECONDS"
// before it begins, "stubborn" (takes no SIGTERM), "broken" (cannot be started). Containers of one KEY share
// their steps; without one, it is the pod's name and the container's. A run that was cut short is no step.
class Programs {
 public:
  runtime::Script Next(const runtime::PodLaunch& pod, const runtime::ContainerLaunch& container);
  // To be told of everything that happens.
  void OnPodEvent(const runtime::PodEvent& event);

 private:
  struct Run {
    std::string key;
    runtime::Script script;
    Instant begun;
  };
  std::map<std::string, size_t> done_;  // steps, by key
  std::map<std::string, Run> runs_;     // by attempt of a container
};

runtime::Script ParseStep(const std::string& words);

}  // namespace tfemu::sim
