// What probes and lifecycle handlers mean for the containers of this agent.
#include <csignal>
#include <nlohmann/json.hpp>

#include "emulator/manager/node_agent.h"

namespace tfemu::manager {
namespace {

using controllers::ContainerRun;

constexpr Duration kPostStartPatience = std::chrono::minutes(5);

}  // namespace

Prober::Listener NodeAgent::ProbeListener() {
  const auto with_pod = [this](const std::string& uid, const auto& act) {
    const auto it = entries_.find(uid);
    if (it == entries_.end()) return;
    const auto object = deps_.store.Get(it->second.key);
    if (object.ok() && object.value().uid() == uid) act(object.value().As(api::DecodePod), it->second);
  };
  return {[this](const std::string& uid) {
            if (const auto it = entries_.find(uid); it != entries_.end()) queue_.Add(it->second.key);
          },
          [this, with_pod](const std::string& uid, const std::string& container, const std::string& why) {
            with_pod(uid, [&](const api::Pod& pod, Entry& entry) {
              Say(pod, false, "Killing", why);
              Terminate(pod, entry, container);
            });
          },
          [this, with_pod](const std::string& uid, const std::string& message) {
            with_pod(uid, [&](const api::Pod& pod, Entry&) { Say(pod, true, "Unhealthy", message); });
          }};
}

void NodeAgent::OnContainerRunning(const api::Pod& pod, Entry& entry, const std::string& name) {
  const api::Container* container = api::FindContainer(pod.spec, name);
  if (container == nullptr) return;
  prober_.Start(pod, *container, entry.address);
  const auto failed = [this, uid = pod.meta.uid, name](const runtime::ProbeOutcome& outcome) {
    const auto it = entries_.find(uid);
    if (outcome.success || it == entries_.end()) return;
    const auto object = deps_.store.Get(it->second.key);
    if (!object.ok()) return;
    const api::Pod& now = object.value().As(api::DecodePod);
    Say(now, true, "FailedPostStartHook", "PostStartHook failed: " + outcome.output);
    Terminate(now, it->second, name);
  };
  prober_.Handle(pod, *container, entry.address, container->probes.post_start, kPostStartPatience, failed);
}

// preStop, then SIGTERM, and SIGKILL when the grace is over; a pod that ends as a whole is killed by its
// plan.
void NodeAgent::Terminate(const api::Pod& pod, Entry& entry, const std::string& name) {
  const api::Container* container = api::FindContainer(pod.spec, name);
  ContainerRun& run = entry.run.containers[name];
  run.term_sent = true;
  prober_.Stop(pod.meta.uid, name);
  const Duration grace = std::chrono::seconds(pod.spec.termination_grace_period_seconds) / time_scale_;
  const auto still = [this, uid = pod.meta.uid, name, attempt = run.attempt] {
    const auto it = entries_.find(uid);
    if (it == entries_.end()) return false;
    const ContainerRun& now = it->second.run.containers[name];
    return now.attempt == attempt && now.state == ContainerRun::State::kRunning;
  };
  const auto terminate = [this, uid = pod.meta.uid, name, still](const runtime::ProbeOutcome&) {
    if (still()) deps_.runtime.SignalContainer(uid, name, SIGTERM);
  };
  if (container == nullptr) return terminate({true, ""});
  prober_.Handle(pod, *container, entry.address, container->probes.pre_stop, grace, terminate);
  if (pod.meta.deletion_timestamp) return;
  deps_.executor.PostAt(deps_.executor.Now() + grace,
                        [this, uid = pod.meta.uid, name, still, alive = alive_] {
                          if (*alive && still()) deps_.runtime.SignalContainer(uid, name, SIGKILL);
                        });
}

}  // namespace tfemu::manager
