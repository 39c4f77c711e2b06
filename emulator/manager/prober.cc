#include "emulator/manager/prober.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::manager {
namespace {

using api::HandlerAction;
using controllers::ProbeType;

constexpr Duration kWaitForStart = std::chrono::seconds(1);
constexpr ProbeType kTypes[] = {ProbeType::kStartup, ProbeType::kLiveness, ProbeType::kReadiness};

const api::Probe& ProbeOf(const api::Container& container, ProbeType type) {
  if (type == ProbeType::kStartup) return *container.probes.startup;
  return type == ProbeType::kLiveness ? *container.probes.liveness : *container.probes.readiness;
}

int PortOf(const api::Container& container, const std::string& port) {
  if (const auto number = ParseInt(port)) return static_cast<int>(*number);
  for (const api::ContainerPort& named : container.ports)
    if (named.name == port) return named.port;
  return 0;
}

runtime::ProbeRequest::Type TypeOf(HandlerAction::Type type) {
  switch (type) {
    case HandlerAction::Type::kHttp: return runtime::ProbeRequest::Type::kHttp;
    case HandlerAction::Type::kTcp: return runtime::ProbeRequest::Type::kTcp;
    case HandlerAction::Type::kGrpc: return runtime::ProbeRequest::Type::kGrpc;
    case HandlerAction::Type::kExec:
    case HandlerAction::Type::kSleep:
    case HandlerAction::Type::kNone: break;
  }
  return runtime::ProbeRequest::Type::kExec;
}

runtime::ProbeRequest RequestOf(const std::string& uid, const api::Container& container,
                                const std::string& address, const HandlerAction& action, Duration timeout) {
  return {TypeOf(action.type), uid,         container.name,
          action.command,      address,     PortOf(container, action.port),
          action.path,         action.host, action.headers,
          action.service,      timeout,     action.scheme == "HTTPS"};
}

}  // namespace

Prober::Prober(Executor& executor, runtime::ProbeRunner* runner, int64_t time_scale, Listener listener)
    : executor_(executor), runner_(runner), time_scale_(time_scale), listener_(std::move(listener)) {}

void Prober::Start(const api::Pod& pod, const api::Container& container, const std::string& address) {
  Watch({pod.meta.uid, container.name},
        {next_id_++, container, address, controllers::ProbeTracker(container.probes)}, Duration(0));
}

void Prober::Resume(const api::Pod& pod, const api::Container& container, const std::string& address,
                    const api::ContainerStatus& was, Duration age) {
  Watch({pod.meta.uid, container.name},
        {next_id_++, container, address,
         controllers::ProbeTracker(container.probes, was.started, was.started && was.ready)},
        age * time_scale_);
}

void Prober::Watch(const Key& key, Watched watched, Duration age) {
  const api::ContainerProbes probes = watched.container.probes;
  if (!probes.startup && !probes.liveness && !probes.readiness) return;
  const uint64_t id = watched.id;
  watched_.insert_or_assign(key, std::move(watched));
  for (const ProbeType type : kTypes) {
    const bool there = type == ProbeType::kStartup    ? probes.startup.has_value()
                       : type == ProbeType::kLiveness ? probes.liveness.has_value()
                                                      : probes.readiness.has_value();
    if (!there) continue;
    const Duration delay = ProbeOf(watched_.at(key).container, type).initial_delay;
    Later(key, id, type, std::max(delay - age, Duration(0)));
  }
}

void Prober::Stop(const std::string& uid, const std::string& container) { watched_.erase({uid, container}); }

bool Prober::started(const std::string& uid, const std::string& container) const {
  const auto it = watched_.find({uid, container});
  return it == watched_.end() || it->second.tracker.started();
}

bool Prober::ready(const std::string& uid, const std::string& container) const {
  const auto it = watched_.find({uid, container});
  return it == watched_.end() || it->second.tracker.ready();
}

void Prober::Handle(const api::Pod& pod, const api::Container& container, const std::string& address,
                    const HandlerAction& action, Duration timeout,
                    std::function<void(const runtime::ProbeOutcome&)> done) {
  if (action.type == HandlerAction::Type::kSleep) {
    executor_.PostAt(executor_.Now() + std::chrono::seconds(action.seconds) / time_scale_,
                     [done = std::move(done)] {
                       done({true, ""});
                     });
    return;
  }
  if (action.type == HandlerAction::Type::kNone || runner_ == nullptr) return done({true, ""});
  runner_->Run(RequestOf(pod.meta.uid, container, address, action, timeout), std::move(done));
}

Prober::Watched* Prober::Find(const Key& key, uint64_t id) {
  const auto it = watched_.find(key);
  return it == watched_.end() || it->second.id != id ? nullptr : &it->second;
}

void Prober::Later(const Key& key, uint64_t id, ProbeType type, Duration wait) {
  executor_.PostAt(executor_.Now() + wait / time_scale_, [this, alive = alive_, key, id, type] {
    if (*alive) Ask(key, id, type);
  });
}

void Prober::Ask(const Key& key, uint64_t id, ProbeType type) {
  Watched* watched = Find(key, id);
  if (watched == nullptr) return;
  const api::Probe& probe = ProbeOf(watched->container, type);
  if (!watched->tracker.Wanted(type)) {
    // A startup probe that has succeeded is done; the others wait for it.
    if (type != ProbeType::kStartup) Later(key, id, type, std::min(probe.period, kWaitForStart));
    return;
  }
  const auto answered = [this, alive = alive_, key, id, type](const runtime::ProbeOutcome& outcome) {
    if (*alive) OnAnswer(key, id, type, outcome);
  };
  if (runner_ == nullptr) return answered({true, ""});
  runner_->Run(RequestOf(key.first, watched->container, watched->address, probe.action, probe.timeout),
               answered);
}

void Prober::OnAnswer(const Key& key, uint64_t id, ProbeType type, const runtime::ProbeOutcome& outcome) {
  Watched* watched = Find(key, id);
  if (watched == nullptr) return;
  const bool was_started = watched->tracker.started(), was_ready = watched->tracker.ready();
  const bool kill = watched->tracker.Record(type, outcome.success);
  const bool changed = was_started != watched->tracker.started() || was_ready != watched->tracker.ready();
  const std::string name = controllers::ToString(type);
  if (!outcome.success) listener_.unhealthy(key.first, name + " probe failed: " + outcome.output);
  if (changed) listener_.changed(key.first);
  if (kill) {
    const std::string why =
        "Container " + key.second + " failed " + ToLower(name) + " probe, will be restarted";
    watched_.erase(key);
    return listener_.kill(key.first, key.second, why);
  }
  watched = Find(key, id);
  if (watched != nullptr) Later(key, id, type, ProbeOf(watched->container, type).period);
}

}  // namespace tfemu::manager
