// Claims and volumes: a change of either makes every claim that waits look again.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/node.h"
#include "emulator/api/storage_class.h"
#include "emulator/api/volume.h"
#include "emulator/base/time_format.h"
#include "emulator/controllers/volume_binder.h"
#include "emulator/manager/controllers.h"
#include "emulator/manager/lister.h"
#include "emulator/manager/volume_placement.h"

namespace tfemu::manager {
namespace {

std::vector<api::ObjectKey> Keys(const store::Store& store, const std::string& kind,
                                 const std::string& ns = "") {
  std::vector<api::ObjectKey> keys;
  for (const api::Object& object : store.List({kind, ns}).objects) keys.push_back(object.key());
  return keys;
}

bool InUse(const store::Store& store, const api::ObjectKey& claim) {
  const auto pods = ListAll(store, {"Pod", claim.ns}, api::DecodePod);
  return std::ranges::any_of(pods, [&](const api::Pod& pod) {
    return !pod.finished() && std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& volume) {
      return volume.type == api::PodVolume::Type::kClaim && volume.claim_name == claim.name;
    });
  });
}

bool ClaimExists(const store::Store& store, const api::PersistentVolume& volume) {
  const auto claim = store.Get({"PersistentVolumeClaim", volume.claim_ns, volume.claim_name});
  return claim.ok() && claim.value().uid() == volume.claim_uid;
}

}  // namespace

std::unique_ptr<Controller> MakeClaimController(const ControllerDeps& deps) {
  const auto map = [deps](const store::WatchEvent& event) -> std::vector<api::ObjectKey> {
    const api::ObjectKey& key = event.object.key();
    if (key.kind == "PersistentVolumeClaim") return {key};
    if (key.kind == "PersistentVolume" || key.kind == "StorageClass")
      return Keys(deps.store, "PersistentVolumeClaim");
    // A pod that goes may be the last that held a claim which is being deleted.
    if (key.kind == "Pod" && event.type != store::WatchType::kAdded) {
      auto keys = Keys(deps.store, "PersistentVolumeClaim", key.ns);
      std::erase_if(keys, [&](const api::ObjectKey& k) { return !deps.store.Get(k).value().terminating(); });
      return keys;
    }
    return {};
  };
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    controllers::ClaimObservation observed{
        api::DecodePersistentVolumeClaim(object.value()), api::ReferenceTo(object.value()),
        ListAll(deps.store, {"PersistentVolume", ""}, api::DecodePersistentVolume), InUse(deps.store, key)};
    observed.state_folder = deps.folders.state_folder();
    const auto found = deps.store.Get({"StorageClass", "", observed.claim.storage_class.value_or("")});
    const auto storage_class =
        found.ok() ? std::optional(api::DecodeStorageClass(found.value())) : std::nullopt;
    observed.storage_class = storage_class ? &*storage_class : nullptr;
    observed.node = SelectedNode(object.value());
    if (const auto node = deps.store.Get({"Node", "", observed.node}); node.ok())
      observed.node_labels = node.value().As(api::DecodeNode).meta.labels;
    return controllers::ReconcileClaim(observed);
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, map, reconcile);
}

std::unique_ptr<Controller> MakeVolumeController(const ControllerDeps& deps) {
  const auto map = [deps](const store::WatchEvent& event) -> std::vector<api::ObjectKey> {
    if (event.object.key().kind == "PersistentVolume") return {event.object.key()};
    if (event.object.key().kind == "PersistentVolumeClaim" && event.type == store::WatchType::kDeleted)
      return Keys(deps.store, "PersistentVolume");
    return {};
  };
  const auto reconcile = [deps](const api::ObjectKey& key) -> std::optional<controllers::Plan> {
    const auto object = deps.store.Get(key);
    if (!object.ok()) return std::nullopt;
    const auto volume = api::DecodePersistentVolume(object.value());
    auto planned = controllers::ReconcileVolume(
        {volume, ClaimExists(deps.store, volume), api::ReferenceTo(object.value())});
    if (planned.discard) {
      std::string stamp = FormatTime(deps.executor.Now());
      if (const auto discard = deps.folders.DiscardOf(volume, stamp))
        deps.runtime.DiscardFolder(discard->folder, discard->aside);
    }
    return std::move(planned.plan);
  };
  return std::make_unique<Controller>(deps.executor, deps.applier, map, reconcile);
}

}  // namespace tfemu::manager
