// TFJob, Deployment, StatefulSet and the like: each looks at an object and at what that object controls.
#include <nlohmann/json.hpp>

#include "emulator/controllers/cron_job_reconciler.h"
#include "emulator/controllers/daemon_set_reconciler.h"
#include "emulator/controllers/deployment_reconciler.h"
#include "emulator/controllers/job_reconciler.h"
#include "emulator/controllers/replica_set_reconciler.h"
#include "emulator/controllers/stateful_set_reconciler.h"
#include "emulator/controllers/tfjob_reconciler.h"
#include "emulator/manager/controllers.h"
#include "emulator/manager/lister.h"

namespace tfemu::manager {
namespace {

// The object itself, or the controller of kind `kind` of what changed.
Controller::Mapper SelfOrController(const char* kind) {
  return [kind](const store::WatchEvent& event) -> std::vector<api::ObjectKey> {
    if (event.object.key().kind == kind) return {event.object.key()};
    if (const auto owner = ControllerKey(event.object, kind)) return {*owner};
    return {};
  };
}

}  // namespace

std::unique_ptr<Controller> MakeTFJobController(const ControllerDeps& deps) {
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    const std::string& uid = object.value().uid();
    return controllers::ReconcileTFJob({api::DecodeTFJob(object.value()), api::ReferenceTo(object.value()),
                                        ListOwned(deps.store, {"Pod", key.ns}, uid, api::DecodePod),
                                        ListOwned(deps.store, {"Service", key.ns}, uid, api::DecodeService),
                                        deps.executor.Now(), deps.tfjob});
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, SelfOrController("TFJob"), reconcile);
}

std::unique_ptr<Controller> MakeJobController(const ControllerDeps& deps) {
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) {
      std::vector<api::Pod> left;
      for (const api::Object& pod : deps.store.List({"Pod", key.ns}).objects)
        if (ControllerKey(pod, "Job") == key) left.push_back(pod.As(api::DecodePod));
      return controllers::ReleaseJobPods(left);
    }
    return controllers::ReconcileJob(
        {api::DecodeBatchJob(object.value()), api::ReferenceTo(object.value()),
         ListOwned(deps.store, {"Pod", key.ns}, object.value().uid(), api::DecodePod), deps.executor.Now(),
         deps.time_scale});
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, SelfOrController("Job"), reconcile);
}

std::unique_ptr<Controller> MakeDeploymentController(const ControllerDeps& deps) {
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    return controllers::ReconcileDeployment(
        {api::DecodeDeployment(object.value()), api::ReferenceTo(object.value()),
         ListOwned(deps.store, {"ReplicaSet", key.ns}, object.value().uid(), api::DecodeReplicaSet),
         deps.executor.Now()});
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, SelfOrController("Deployment"), reconcile);
}

std::unique_ptr<Controller> MakeReplicaSetController(const ControllerDeps& deps) {
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    return controllers::ReconcileReplicaSet(
        {api::DecodeReplicaSet(object.value()), api::ReferenceTo(object.value()),
         ListOwned(deps.store, {"Pod", key.ns}, object.value().uid(), api::DecodePod)});
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, SelfOrController("ReplicaSet"), reconcile);
}

std::unique_ptr<Controller> MakeStatefulSetController(const ControllerDeps& deps) {
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    const std::string& uid = object.value().uid();
    controllers::StatefulSetObservation observed{
        api::DecodeStatefulSet(object.value()),
        api::ReferenceTo(object.value()),
        ListOwned(deps.store, {"Pod", key.ns}, uid, api::DecodePod),
        ListOwned(deps.store, {"ControllerRevision", key.ns}, uid, api::DecodeControllerRevision),
        {}};
    for (const api::Object& claim : deps.store.List({"PersistentVolumeClaim", key.ns}).objects)
      observed.claims[claim.key().name] = claim.uid();
    return controllers::ReconcileStatefulSet(observed);
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, SelfOrController("StatefulSet"),
                                      reconcile);
}

// Every node that comes, goes or changes concerns every DaemonSet.
std::unique_ptr<Controller> MakeDaemonSetController(const ControllerDeps& deps) {
  const auto map = [deps, own = SelfOrController("DaemonSet")](const store::WatchEvent& event) {
    if (event.object.key().kind != "Node") return own(event);
    std::vector<api::ObjectKey> keys;
    for (const api::Object& set : deps.store.List({"DaemonSet", ""}).objects) keys.push_back(set.key());
    return keys;
  };
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    return controllers::ReconcileDaemonSet(
        {api::DecodeDaemonSet(object.value()), api::ReferenceTo(object.value()),
         ListAll(deps.store, {"Node", ""}, api::DecodeNode),
         ListOwned(deps.store, {"Pod", key.ns}, object.value().uid(), api::DecodePod), deps.executor.Now(),
         deps.time_scale});
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, map, reconcile);
}

std::unique_ptr<Controller> MakeCronJobController(const ControllerDeps& deps) {
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    return controllers::ReconcileCronJob(
        {api::DecodeCronJob(object.value()), api::ReferenceTo(object.value()),
         ListOwned(deps.store, {"Job", key.ns}, object.value().uid(), api::DecodeBatchJob),
         deps.executor.Now()});
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, SelfOrController("CronJob"), reconcile);
}

}  // namespace tfemu::manager
