// The kubelets of all nodes: gives pods their address, has their images made ready, tells the runtime what to
// do, and writes what came of it into the pods' status.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "emulator/controllers/node_pod_reconciler.h"
#include "emulator/manager/address_pool.h"
#include "emulator/manager/adoption.h"
#include "emulator/manager/eci_start.h"
#include "emulator/manager/event_recorder.h"
#include "emulator/manager/gpu_monitor.h"
#include "emulator/manager/pod_launcher.h"
#include "emulator/manager/prober.h"
#include "emulator/manager/receipts.h"
#include "emulator/manager/registry.h"
#include "emulator/manager/work_queue.h"
#include "emulator/store/store.h"
#include "runtime/image.h"
#include "runtime/runtime.h"

namespace tfemu::manager {

struct NodeAgentDeps {
  Executor& executor;
  store::Store& store;
  Registry& registry;
  EventRecorder& events;
  runtime::Runtime& runtime;
  runtime::ImageCatalog& images;
  runtime::GpuFiles* gpu_files = nullptr;  // null: pods are shown no GPUs
  runtime::ProbeRunner* probes = nullptr;  // null: every probe succeeds
};

class NodeAgent {
 public:
  NodeAgent(const NodeAgentDeps& deps, LaunchSettings settings, int64_t time_scale);
  ~NodeAgent() { *alive_ = false; }

  void OnWatch(const store::WatchEvent& event);
  void OnPodEvent(const runtime::PodEvent& event);
  struct Adopted {
    int running = 0;  // go on
    int lost = 0;     // had been started; the runtime no longer has them
    int waiting = 0;
  };
  // Before anything else: pods of a former daemon go on where the runtime still has them, the containers of
  // the others count as lost, and what runs without an object is stopped.
  Adopted Adopt(const runtime::Kept& kept);
  // The first processes of the containers that run, by pod.
  std::map<api::ObjectKey, std::vector<int>> RunningPids() const;
  const GpuMonitor& gpus() const { return gpus_; }
  // MIG instances that were made since the start have devices of their own.
  void UseMigDevices(const std::map<std::string, std::vector<std::string>>& devices) {
    launcher_.UseMigDevices(devices);
  }
  // The runtime lost everything it ran (its supervisor died).
  void OnRuntimeLost(const std::string& why);
  // It works again, empty: what was ordered of it in between never arrived.
  void OnRuntimeBack();

 private:
  struct Entry {
    api::ObjectKey key;
    controllers::PodRun run;
    std::string address;
    std::string mount_problem;  // said once, as is the next
    bool node_missing = false;
    std::map<std::string, std::string> image_ids;  // by container, since its start
    std::optional<EciStart> eci_start;             // once its instance is known
    Instant eci_ready;
    bool sandbox_failed = false;  // its containers were not started, and it is tried again after a while
    std::set<std::string> full;   // volumes whose quota is reached, as was said
  };

  Result<void> Sync(const api::ObjectKey& key);
  Entry& EntryFor(const api::Pod& pod);
  void Forget(const std::string& uid);
  // Whether the pod's node is there and has given it what it starts with.
  bool Welcome(const api::Pod& pod, Entry& entry);
  std::vector<controllers::Obstacle> Obstacles(const api::Pod& pod, Entry& entry);
  std::optional<controllers::Obstacle> ImageObstacle(const api::Pod& pod, const api::Container& container);
  void Prepare(const api::Pod& pod, const api::Container& container, const runtime::Image& image);
  // Whether ECI would not have the pod's instance and images yet.
  bool EciStarting(const api::Pod& pod, Entry& entry);
  controllers::NodePodObservation Observe(const api::Pod& pod, Entry& entry);
  Result<void> Obey(const api::Pod& pod, Entry& entry, const controllers::NodePodOrder& order);
  Result<void> RemoveStopped(const api::Pod& pod);
  void StartSandbox(const api::Pod& pod, Entry& entry);
  void StartContainer(const api::Pod& pod, Entry& entry, const controllers::NodePodOrder& order);
  DownwardContext Context(const api::Pod& pod, const Entry& entry) const;
  static api::Event Said(const api::Pod& pod, bool warning, const std::string& reason,
                         const std::string& message);
  void Say(const api::Pod& pod, bool warning, const std::string& reason, const std::string& message);
  // What is said of it, if anything.
  static std::optional<api::Event> EventOf(const api::Pod& pod, const runtime::PodEvent& event);
  void OnExit(Entry& entry, const runtime::PodEvent& event);
  // node_agent_probes.cc
  Prober::Listener ProbeListener();
  void OnContainerRunning(const api::Pod& pod, Entry& entry, const std::string& name);
  void Terminate(const api::Pod& pod, Entry& entry, const std::string& name);
  // node_agent_volumes.cc
  void OnVolumeUsage(const api::Pod& pod, Entry& entry, const runtime::PodEvent& event);
  void Evict(const api::Pod& pod, const std::string& message);
  void NoteUsage(const api::Pod& pod, const api::PodVolume& volume, const runtime::PodEvent& event);
  // A ConfigMap or Secret changed: running pods that mount it see its new content.
  void RefreshFiles(const api::ObjectKey& changed);
  // Writes those of a running pod's volumes of files anew that `which` names.
  void UpdateFiles(const api::Pod& pod, const Entry& entry,
                   const std::function<bool(const api::PodVolume&)>& which);
  // node_agent_adopt.cc
  void AdoptPod(const AdoptionRequest& request);
  void AdoptContainer(const api::Pod& pod, Entry& entry, const runtime::KeptContainer& container);
  void ResumeProbes(const api::Pod& pod, const Entry& entry, const api::Container& container,
                    const runtime::KeptContainer& kept);
  void StopStranger(const runtime::KeptPod& pod);

  NodeAgentDeps deps_;
  PodLauncher launcher_;
  api::EciSettings eci_;
  int64_t time_scale_;
  WorkQueue queue_;
  GpuMonitor gpus_;
  Prober prober_;
  AddressPool addresses_;
  Receipts receipts_;
  std::map<std::string, Entry> entries_;             // by pod uid
  std::map<std::string, std::string> image_errors_;  // image id -> why it could not be made ready
  std::set<std::string> preparing_;                  // image ids
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::manager
