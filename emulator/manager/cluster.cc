#include "emulator/manager/cluster.h"

#include <nlohmann/json.hpp>

#include "emulator/api/config.h"
#include "emulator/manager/gpu_health.h"

namespace tfemu::manager {

Cluster::Cluster(const ClusterDeps& deps, ClusterSettings settings)
    : deps_(deps),
      settings_(std::move(settings)),
      registry_(deps.executor, deps.store, Rng(settings_.seed).Fork("registry"), &deps.images),
      events_(deps.executor, registry_),
      applier_(registry_, events_),
      folders_({settings_.launch.state_folder, settings_.launch.nas, settings_.launch.oss}),
      garbage_(deps.executor, deps.store, registry_),
      scheduler_(deps.executor, deps.store, registry_, events_,
                 EciPlacer(settings_.eci, Rng(settings_.seed).Fork("eci"), settings_.time_scale)),
      agent_({deps.executor, deps.store, registry_, events_, deps.runtime, deps.images, deps.gpu_files,
              deps.probes},
             settings_.launch, settings_.time_scale) {
  const ControllerDeps each{deps_.executor, deps_.store,          applier_,       deps_.runtime,
                            folders_,       settings_.time_scale, settings_.tfjob};
  for (const auto make :
       {MakeTFJobController, MakeJobController, MakeDeploymentController, MakeReplicaSetController,
        MakeStatefulSetController, MakeDaemonSetController, MakeCronJobController, MakeClaimController,
        MakeVolumeController, MakeQuotaController})
    controllers_.push_back(make(each));
}

Cluster::~Cluster() { deps_.store.Unwatch(watch_); }

Result<void> Cluster::Start() {
  RETURN_IF_ERROR(MakeNamespaces());
  RETURN_IF_ERROR(MakeNodes());
  events_.Adopt();
  adopted_ = agent_.Adopt(deps_.runtime.TakeOver());
  const store::Listing listing = deps_.store.List({});
  ASSIGN_OR_RETURN(watch_, deps_.store.Watch({}, listing.revision,
                                             [this](const store::WatchEvent& event) { OnWatch(event); }));
  for (const api::Object& object : listing.objects) OnWatch({store::WatchType::kAdded, object});
  return {};
}

Result<void> Cluster::MakeNamespaces() {
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    if (deps_.store.Get({"Namespace", "", name}).ok()) continue;
    const auto made = registry_.Create(api::MakeNamespace(name), {});
    if (!made.ok()) return made.error();
  }
  return {};
}

// The nodes are this run's: those of a former run go.
Result<void> Cluster::MakeNodes() {
  for (const api::Object& old : deps_.store.List({"Node", ""}).objects)
    RETURN_IF_ERROR(deps_.store.Delete(old.key(), old.uid()));
  for (const api::Json& node : settings_.nodes) {
    const auto made = registry_.Create(node, {.keep_status = true});
    if (!made.ok()) return made.error();
  }
  return {};
}

void Cluster::OnHostGpus(const Result<std::vector<api::Gpu>>& host) {
  for (const api::Object& object : deps_.store.List({"Node", ""}).objects) {
    const api::Node& node = object.As(api::DecodeNode);
    api::NodeGpus gpus = node.gpus;
    const auto news = UpdateHealth(gpus, host);
    if (news.empty()) continue;
    const auto patched = registry_.Patch(object.key(), object.uid(), "", api::NodeGpusPatch(node, gpus));
    if (!patched.ok()) continue;
    for (const GpuNews& one : news)
      events_.Record({api::ReferenceTo(patched.value()), one.bad, one.bad ? "GPUUnhealthy" : "GPUHealthy",
                      one.message, "kubelet", node.meta.name});
  }
}

void Cluster::OnWatch(const store::WatchEvent& event) {
  for (const auto& controller : controllers_) controller->OnWatch(event);
  garbage_.OnWatch(event);
  events_.OnWatch(event);
  scheduler_.OnWatch(event);
  agent_.OnWatch(event);
}

}  // namespace tfemu::manager
