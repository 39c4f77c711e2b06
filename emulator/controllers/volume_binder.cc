#include "emulator/controllers/volume_binder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tfemu::controllers {
namespace {

using api::PersistentVolume;
using api::PersistentVolumeClaim;

bool HeldBy(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return volume.claim_ns == claim.meta.ns && volume.claim_name == claim.meta.name &&
         (volume.claim_uid.empty() || volume.claim_uid == claim.meta.uid);
}

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

const PersistentVolume* Best(const ClaimObservation& o) {
  const PersistentVolume* best = nullptr;
  for (const PersistentVolume& volume : o.volumes) {
    if (!Mismatch(o.claim, volume).empty()) continue;
    if (HeldBy(volume, o.claim)) return &volume;  // reserved for it, or half bound
    if (best == nullptr || volume.capacity < best->capacity) best = &volume;
  }
  return best;
}

api::Event Waiting(const ClaimObservation& o) {
  const std::string storage_class = o.claim.storage_class.value_or("");
  std::string why;
  for (const PersistentVolume& volume : o.volumes)
    why += (why.empty() ? " (" : "; ") + volume.meta.name + ": " + Mismatch(o.claim, volume);
  if (!why.empty()) why += ")";
  if (storage_class.empty())
    return {o.self,
            false,
            "FailedBinding",
            "no persistent volumes available for this claim and no storage class is set" + why,
            "persistentvolume-controller",
            ""};
  return {o.self,
          true,
          "ProvisioningFailed",
          "storageclass.storage.k8s.io " + Quoted(storage_class) + " not found" + why,
          "persistentvolume-controller",
          ""};
}

Plan Protect(const ClaimObservation& o) {
  Plan plan;
  if (o.in_use || o.claim.meta.finalizers.empty()) return plan;
  plan.actions.push_back(
      PatchObject{o.claim.key(), o.claim.meta.uid, "", api::Object(api::NoFinalizersPatch())});
  return plan;
}

}  // namespace

std::string Mismatch(const PersistentVolumeClaim& claim, const PersistentVolume& volume) {
  if (!claim.volume_name.empty() && claim.volume_name != volume.meta.name)
    return "the claim names another volume";
  if (volume.meta.deletion_timestamp) return "it is being deleted";
  if (!volume.claim_name.empty() && !HeldBy(volume, claim))
    return "it is bound to " + volume.claim_ns + "/" + volume.claim_name;
  if (volume.storage_class != claim.storage_class.value_or(""))
    return "its class is " + Quoted(volume.storage_class) + ", not " +
           Quoted(claim.storage_class.value_or(""));
  if (volume.volume_mode != claim.volume_mode) return "its volumeMode is " + volume.volume_mode;
  for (const auto& mode : claim.access_modes)
    if (std::ranges::find(volume.access_modes, mode) == volume.access_modes.end())
      return "it does not offer " + mode;
  if (volume.capacity < claim.request)
    return "it has " + FormatQuantity(volume.capacity, true) + ", not " + FormatQuantity(claim.request, true);
  if (!claim.selector.Matches(volume.meta.labels)) return "its labels do not match the selector";
  return "";
}

Plan ReconcileClaim(const ClaimObservation& observed) {
  const PersistentVolumeClaim& claim = observed.claim;
  if (claim.meta.deletion_timestamp) return Protect(observed);
  Plan plan;
  if (claim.phase == "Bound" || claim.phase == "Lost") {
    const bool there = std::ranges::any_of(observed.volumes, [&](const PersistentVolume& v) {
      return v.meta.name == claim.volume_name && HeldBy(v, claim);
    });
    if (there != (claim.phase == "Bound"))
      plan.actions.push_back(PatchObject{claim.key(), claim.meta.uid, "",
                                         api::Object(api::PhasePatch(there ? "Bound" : "Lost"))});
    return plan;
  }
  if (const PersistentVolume* volume = Best(observed)) {
    plan.actions.push_back(PatchObject{{"PersistentVolume", "", volume->meta.name},
                                       volume->meta.uid,
                                       "",
                                       api::Object(api::BindVolumePatch(claim))});
    plan.actions.push_back(
        PatchObject{claim.key(), claim.meta.uid, "", api::Object(api::BindClaimPatch(*volume))});
  } else {
    plan.actions.push_back(EmitEvent{Waiting(observed)});
  }
  return plan;
}

Plan ReconcileVolume(const VolumeObservation& observed) {
  const PersistentVolume& volume = observed.volume;
  Plan plan;
  const auto patch = [&](api::Json document) {
    plan.actions.push_back(PatchObject{
        {"PersistentVolume", "", volume.meta.name}, volume.meta.uid, "", api::Object(std::move(document))});
  };
  const bool bound = !volume.claim_uid.empty() && observed.claim_exists;
  if (volume.meta.deletion_timestamp && !bound && !volume.meta.finalizers.empty()) {
    patch(api::NoFinalizersPatch());
    return plan;
  }
  const std::string phase = volume.claim_uid.empty() ? "Available" : bound ? "Bound" : "Released";
  if (volume.phase != phase) patch(api::PhasePatch(phase));
  return plan;
}

}  // namespace tfemu::controllers
