#include "tests/sim/fault_plan.h"

#include <algorithm>
#include <memory>

#include "tests/sim/manifests.h"

namespace tfemu::sim {
namespace {

using namespace std::chrono_literals;
using Type = Fault::Type;

constexpr const char* kNames[] = {
    "daemon dies after effects", "daemon killed", "supervisor dies", "both die", "reboot",
    "SIGTERM while starting",    "disk full",     "GPU bad"};
constexpr Type kTypes[] = {Type::kDaemonDies,   Type::kDaemonDies,        Type::kDaemonDies,
                           Type::kDaemonKilled, Type::kSupervisorDies,    Type::kBothDie,
                           Type::kReboot,       Type::kTermWhileStarting, Type::kDiskFull,
                           Type::kGpuBad};
constexpr int kNodes = 3, kGpus = 2;

std::string Seconds(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + "ms";
}

void LoseGpu(SimHost& host, uint64_t which) {
  std::vector<api::Gpu> there;
  for (int node = 0; node < kNodes; ++node)
    for (const api::Gpu& gpu : MakeGpus(node, kGpus))
      if (which-- != 0) there.push_back(gpu);
  host.OnHostGpus(there);
}

void FindGpus(SimHost& host) { LoseGpu(host, kNodes * kGpus); }

void Strike(const Fault& fault, SimHost& host) {
  switch (fault.type) {
    case Type::kDaemonDies: return host.gate().DieAfter(fault.count);
    case Type::kDaemonKilled: return host.KillDaemon();
    case Type::kSupervisorDies: return host.FailSupervisor();
    case Type::kBothDie:
    case Type::kReboot: return host.Down();
    case Type::kTermWhileStarting: host.TerminateNextStart(); return host.KillDaemon();
    case Type::kDiskFull: return host.disk().set_full(true);
    case Type::kGpuBad: return LoseGpu(host, fault.count);
  }
}

}  // namespace

std::string Fault::Text() const {
  return std::string(kNames[static_cast<int>(type)]) + " at " + Seconds(at) +
         (lasts > 0s ? " for " + Seconds(lasts) : "") + (count > 0 ? " (" + std::to_string(count) + ")" : "");
}

bool FaultPlan::loses_pods() const {
  return std::ranges::any_of(faults, [](const Fault& fault) {
    return fault.type == Type::kSupervisorDies || fault.type == Type::kBothDie ||
           fault.type == Type::kReboot || fault.type == Type::kTermWhileStarting;
  });
}

std::string FaultPlan::Text() const {
  std::string text = "downtime " + Seconds(downtime) + ", sandbox failures " +
                     std::to_string(sandbox_failures) + "%, slow sandboxes " +
                     std::to_string(slow_sandboxes) + "%, event delay up to " + Seconds(event_delay) + "\n";
  for (const Fault& fault : faults) text += "  " + fault.Text() + "\n";
  return text;
}

FaultPlan DrawFaults(Rng rng) {
  FaultPlan plan;
  plan.downtime = 1ms * (1 + rng.Below(rng.Below(3) == 0 ? 20'000 : 800));
  if (rng.Below(3) == 0) plan.sandbox_failures = static_cast<int>(rng.Below(40));
  if (rng.Below(2) == 0) plan.slow_sandboxes = static_cast<int>(rng.Below(60));
  if (rng.Below(2) == 0) plan.event_delay = 1ms * rng.Below(300);
  const uint64_t count = rng.Below(6);
  for (uint64_t i = 0; i < count; ++i) {
    Fault fault{kTypes[rng.Below(std::size(kTypes))], 1ms * rng.Below(100'000)};
    if (fault.type == Type::kDaemonDies) fault.count = rng.Below(200);
    if (fault.type == Type::kGpuBad) fault.count = rng.Below(kNodes * kGpus);
    if (fault.type == Type::kDiskFull) fault.lasts = 1ms * (1 + rng.Below(15'000));
    plan.faults.push_back(fault);
  }
  return plan;
}

void Carry(const FaultPlan& plan, SimHost& host, Rng rng) {
  const auto healed = std::make_shared<bool>(false);
  const auto draws = std::make_shared<Rng>(rng);
  auto& directions = host.runtime().directions();
  directions.sandbox = [=](const runtime::PodLaunch&) {
    runtime::SandboxScript script;
    if (*healed) return script;
    if (draws->Below(100) < static_cast<uint64_t>(plan.slow_sandboxes)) {
      script.ready_after = 1ms * draws->Below(2000);
      script.gone_after = 1ms * draws->Below(500);
    }
    if (draws->Below(100) < static_cast<uint64_t>(plan.sandbox_failures)) script.error = "no space left";
    return script;
  };
  directions.event_delay = [=, most = static_cast<uint64_t>(plan.event_delay.count())] {
    return *healed || most == 0 ? Duration(0) : Duration(draws->Below(most));
  };
  for (const Fault& fault : plan.faults) {
    host.At(fault.at, [&host, fault] { Strike(fault, host); });
    if (fault.lasts > 0s) host.At(fault.at + fault.lasts, [&host] { host.disk().set_full(false); });
  }
  host.At(kSafety, [&host, healed] {
    *healed = true;
    host.gate().Disarm();
    host.disk().set_full(false);
    FindGpus(host);
  });
}

}  // namespace tfemu::sim
