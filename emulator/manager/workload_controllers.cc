// TFJob, Deployment and ReplicaSet: each looks at an object and at what that object controls.
#include <nlohmann/json.hpp>

#include "emulator/controllers/deployment_reconciler.h"
#include "emulator/controllers/job_reconciler.h"
#include "emulator/controllers/replica_set_reconciler.h"
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

}  // namespace tfemu::manager
