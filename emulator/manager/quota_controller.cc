// Resource quotas: every change in a namespace makes its quotas count again.
#include "emulator/controllers/quota_reconciler.h"
#include "emulator/manager/controllers.h"

namespace tfemu::manager {

std::unique_ptr<Controller> MakeQuotaController(const ControllerDeps& deps) {
  const auto map = [deps](const store::WatchEvent& event) {
    const api::ObjectKey& key = event.object.key();
    std::vector<api::ObjectKey> keys;
    if (key.ns.empty() || key.kind == "Event") return keys;
    for (const api::Object& quota : deps.store.List({"ResourceQuota", key.ns}).objects)
      keys.push_back(quota.key());
    return keys;
  };
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    return controllers::ReconcileQuota(
        {api::DecodeResourceQuota(object.value()), deps.store.List({"", key.ns}).objects});
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, map, reconcile);
}

}  // namespace tfemu::manager
