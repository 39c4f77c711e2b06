#include "tests/sim/sim_host.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace tfemu::sim {
namespace {

constexpr Duration kRetry = std::chrono::milliseconds(700);  // of a user, by hand

}  // namespace

// What dies together.
struct SimHost::Daemon {
  Daemon(SimHost& host, manager::ClusterSettings settings)
      : process(host.executor_),
        link(host.runtime_, host.gate_),
        store(process, &host.disk_),
        cluster({process, store, link, host.images_, nullptr, host.options_.probes}, std::move(settings)) {}

  SimProcess process;
  GatedRuntime link;
  store::MemoryStore store;
  manager::Cluster cluster;
};

SimHost::SimHost(Options options)
    : options_(std::move(options)), runtime_(executor_, [this](const auto& pod, const auto& container) {
        return programs_.Next(pod, container);
      }) {
  disk_.set_observers(options_.observers);
  runtime_.directions().witness = [this](const runtime::PodEvent& event) {
    programs_.OnPodEvent(event);
    for (Observer* observer : options_.observers) observer->OnPodEvent(event);
  };
}

SimHost::~SimHost() = default;

// The daemon's death: its memory is gone, and what was on its way to it.
void SimHost::KillDaemon() {
  daemon_.reset();
  runtime_.LoseDaemon();
  BootLater();
}

void SimHost::BootLater() {
  if (std::exchange(boot_pending_, true)) return;
  executor_.PostAt(executor_.Now() + options_.downtime, [this] {
    boot_pending_ = false;
    if (!daemon_) Boot();
  });
}

void SimHost::Guarded(const Task& act) {
  try {
    act();
  } catch (const DaemonDied&) {
    KillDaemon();
  }
}

void SimHost::Boot() {
  Guarded([this] { TryBoot(); });
}

void SimHost::TryBoot() {
  runtime_.Restart();
  manager::ClusterSettings settings;
  settings.seed = Rng(options_.seed).Fork("daemon " + std::to_string(boots_++)).Next();
  settings.launch.state_folder = "/state";
  settings.nodes = options_.nodes;
  daemon_ = std::make_unique<Daemon>(*this, std::move(settings));
  disk_.LoadInto(daemon_->store);
  const auto started = daemon_->cluster.Start();
  if (!started.ok()) return KillDaemon();  // it says why, and ends; somebody starts it again
  for (Observer* observer : options_.observers) observer->OnBoot();
  WatchAsClient();
  if (std::exchange(terminate_start_, false)) Down();
}

// A client that resumes where it was; what its watch is told first is what it missed.
void SimHost::WatchAsClient() {
  const auto watched = daemon_->store.Watch({}, client_revision_, [this](const store::WatchEvent& event) {
    client_revision_ = event.object.resource_version();
    for (Observer* observer : options_.observers) observer->OnWatchEvent(event);
  });
  CHECK_THAT(watched.ok());
}

void SimHost::Down() {
  KillDaemon();
  for (Observer* observer : options_.observers) observer->OnSupervisorDied();
  runtime_.Fail([] {});
}

void SimHost::FailSupervisor() {
  for (Observer* observer : options_.observers) observer->OnSupervisorDied();
  runtime_.Fail([this] {
    if (!daemon_) return;
    daemon_->cluster.node_agent().OnRuntimeLost("tfemu-supervisor was killed by signal 9");
    runtime_.Restart();
    (void)daemon_->link.TakeOver();
    daemon_->cluster.node_agent().OnRuntimeBack();
  });
}

void SimHost::OnHostGpus(const Result<std::vector<api::Gpu>>& gpus) {
  if (daemon_) daemon_->cluster.OnHostGpus(gpus);
}

void SimHost::DoAt(Duration since_start, Deed deed) {
  At(since_start, [this, deed = std::move(deed)] { Try(deed); });
}

void SimHost::Try(const Deed& deed) {
  bool done = false;
  if (daemon_)
    Guarded([&] {
      const auto result = deed(daemon_->cluster.registry());
      done = result.ok() || result.error().reason != Reason::kUnavailable;
    });
  if (!done) executor_.PostAt(executor_.Now() + kRetry, [this, deed] { Try(deed); });
}

void SimHost::RunUntil(Duration since_start) {
  const Instant limit = kEpoch + since_start;
  bool more = true;
  while (more) {
    Guarded([&] { more = executor_.RunNext(limit); });
    const auto next = executor_.NextDue();
    if (!next || *next > executor_.Now()) TellSettled();
  }
  executor_.RunUntil(limit);
}

void SimHost::TellSettled() {
  if (!daemon_ || runtime_.in_flight() > 0 || disk_.full()) return;
  for (Observer* observer : options_.observers) observer->OnSettled(*this);
}

}  // namespace tfemu::sim
