#include "emulator/manager/volume_placement.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/storage_class.h"
#include "emulator/api/volume.h"
#include "emulator/controllers/volume_binder.h"
#include "emulator/manager/lister.h"

namespace tfemu::manager {
namespace {

using api::PersistentVolume;
using api::PersistentVolumeClaim;
using api::PodVolume;

class Placer {
 public:
  Placer(const store::Store& store, const api::Pod& pod, const std::vector<scheduler::NodeState>& nodes)
      : store_(store), pod_(pod), nodes_(nodes) {}

  VolumePlacement Run() {
    for (const PodVolume& volume : pod_.spec.volumes) {
      if (volume.type != PodVolume::Type::kClaim) continue;
      placement_.prerequisite = Look(volume.claim_name);
      if (!placement_.prerequisite.empty()) break;
    }
    return std::move(placement_);
  }

 private:
  std::string Look(const std::string& name) {
    const std::string quoted = "persistentvolumeclaim \"" + name + "\"";
    const auto object = store_.Get({"PersistentVolumeClaim", pod_.meta.ns, name});
    if (!object.ok()) return quoted + " not found";
    if (object.value().terminating()) return quoted + " is being deleted";
    const auto& claim = object.value().As(api::DecodePersistentVolumeClaim);
    if (claim.phase == "Lost") return quoted + " bound to non-existent persistentvolume";
    if (std::ranges::find(claim.access_modes, "ReadWriteOncePod") != claim.access_modes.end() && Taken(name))
      Reject("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
             [](const auto&) { return false; });
    if (claim.phase == "Bound") LookAtVolume(claim);
    else if (!WaitsForPod(claim)) return "pod has unbound immediate PersistentVolumeClaims";
    else LookAtUnbound(object.value(), claim);
    return "";
  }

  template <class Fits>
  void Reject(const std::string& reason, const Fits& fits) {
    for (const scheduler::NodeState& node : nodes_)
      if (!fits(node.node)) placement_.conflicts.try_emplace(node.node.meta.name, reason);
  }

  void LookAtVolume(const PersistentVolumeClaim& claim) {
    const auto object = store_.Get({"PersistentVolume", "", claim.volume_name});
    if (!object.ok()) return;
    const auto& volume = object.value().As(api::DecodePersistentVolume);
    if (volume.nodes.terms.empty()) return;
    Reject("node(s) had volume node affinity conflict",
           [&](const api::Node& node) { return volume.nodes.Matches(node.meta.labels, node.meta.name); });
  }

  void LookAtUnbound(const api::Object& object, const PersistentVolumeClaim& claim) {
    placement_.waiting.push_back(object);
    if (class_->provisioner != api::kNoProvisioner) {
      if (!controllers::Provision({claim, *class_, "", ""}).ok())
        placement_.failure =
            "running PreBind plugin \"VolumeBinding\": binding volumes: provisioning failed for PVC \"" +
            claim.meta.name + "\"";
      return;
    }
    const auto volumes = ListAll(store_, {"PersistentVolume", ""}, api::DecodePersistentVolume);
    Reject("node(s) didn't find available persistent volumes to bind", [&](const api::Node& node) {
      return std::ranges::any_of(volumes, [&](const PersistentVolume& volume) {
        return controllers::Mismatch(claim, volume).empty() &&
               volume.nodes.Matches(node.meta.labels, node.meta.name);
      });
    });
  }

  bool WaitsForPod(const PersistentVolumeClaim& claim) {
    const auto object = store_.Get({"StorageClass", "", claim.storage_class.value_or("")});
    if (!object.ok() || !claim.volume_name.empty()) return false;
    class_ = object.value().As(api::DecodeStorageClass);
    return class_->wait_for_first_consumer;
  }

  bool Taken(const std::string& claim) const {
    for (const api::Pod& other : ListAll(store_, {"Pod", pod_.meta.ns}, api::DecodePod)) {
      if (other.finished() || other.spec.node_name.empty() || other.meta.uid == pod_.meta.uid) continue;
      for (const PodVolume& volume : other.spec.volumes)
        if (volume.type == PodVolume::Type::kClaim && volume.claim_name == claim) return true;
    }
    return false;
  }

  const store::Store& store_;
  const api::Pod& pod_;
  const std::vector<scheduler::NodeState>& nodes_;
  std::optional<api::StorageClass> class_;
  VolumePlacement placement_;
};

}  // namespace

VolumePlacement PlaceVolumes(const store::Store& store, const api::Pod& pod,
                             const std::vector<scheduler::NodeState>& nodes) {
  return Placer(store, pod, nodes).Run();
}

std::string SelectedNode(const api::Object& claim) {
  const auto annotations = api::DecodeMeta(claim).annotations;
  const auto it = annotations.find(api::kSelectedNode);
  return it == annotations.end() ? "" : it->second;
}

}  // namespace tfemu::manager
