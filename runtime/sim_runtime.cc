#include "runtime/sim_runtime.h"

#include <csignal>

namespace tfemu::runtime {

void SimRuntime::Later(Duration delay, std::function<void()> task) {
  executor_.PostAt(executor_.Now() + delay, [alive = alive_, task = std::move(task)] {
    if (*alive) task();
  });
}

void SimRuntime::Report(PodEvent event) {
  event.at = executor_.Now();
  executor_.Post([this, alive = alive_, event = std::move(event)] {
    if (*alive && sink_) sink_(event);
  });
}

void SimRuntime::StartPod(const PodLaunch& pod) {
  if (!pods_.emplace(pod.uid, Pod{pod, {}}).second) return;
  Report({PodEvent::Type::kSandboxReady, pod.uid});
}

void SimRuntime::StartContainer(const std::string& uid, const ContainerLaunch& container) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  ++starts_[uid + "/" + container.name + "/" + std::to_string(container.attempt)];
  const Script script = director_(pod->second.launch, container);
  if (!script.start_after) return;
  Later(*script.start_after, [this, uid, name = container.name, attempt = container.attempt, script] {
    Begin(uid, name, attempt, script);
  });
}

void SimRuntime::Begin(const std::string& uid, const std::string& container, int attempt,
                       const Script& script) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  pod->second.running[container] = {attempt, script};
  PodEvent event{PodEvent::Type::kContainerStarted, uid, container, attempt};
  event.pid = 1;
  Report(std::move(event));
  if (script.run_for)
    Later(*script.run_for,
          [this, uid, container, attempt, code = script.exit_code] { End(uid, container, attempt, code); });
}

void SimRuntime::End(const std::string& uid, const std::string& container, int attempt, int exit_code) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const auto running = pod->second.running.find(container);
  if (running == pod->second.running.end() || running->second.attempt != attempt) return;
  pod->second.running.erase(running);
  PodEvent event{PodEvent::Type::kContainerExited, uid, container, attempt};
  event.exit_code = exit_code;
  event.signal = exit_code > 128 ? exit_code - 128 : 0;
  Report(std::move(event));
}

void SimRuntime::Exit(const std::string& uid, const std::string& container, int exit_code) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const auto running = pod->second.running.find(container);
  if (running != pod->second.running.end()) End(uid, container, running->second.attempt, exit_code);
}

void SimRuntime::SignalContainer(const std::string& uid, const std::string& container, int signal) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const auto running = pod->second.running.find(container);
  if (running == pod->second.running.end() || (signal == SIGTERM && running->second.script.ignores_sigterm))
    return;
  End(uid, container, running->second.attempt, 128 + signal);
}

void SimRuntime::StopPod(const std::string& uid) {
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  const auto running = pod->second.running;
  for (const auto& [container, state] : running) End(uid, container, state.attempt, 128 + SIGKILL);
  pods_.erase(uid);
  Report({PodEvent::Type::kPodStopped, uid});
}

}  // namespace tfemu::runtime
