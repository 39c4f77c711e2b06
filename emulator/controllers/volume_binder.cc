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
    if (!o.node.empty() && !volume.nodes.Matches(o.node_labels, o.node)) continue;
    if (HeldBy(volume, o.claim)) return &volume;  // reserved for it, or half bound
    if (best == nullptr || volume.capacity < best->capacity) best = &volume;
  }
  return best;
}

constexpr const char* kController = "persistentvolume-controller";

std::string Mismatches(const ClaimObservation& o) {
  std::string why;
  for (const PersistentVolume& volume : o.volumes)
    if (const std::string one = Mismatch(o.claim, volume); !one.empty())
      why += (why.empty() ? " (" : "; ") + volume.meta.name + ": " + one;
  return why.empty() ? "" : why + ")";
}

api::Event NoVolume(const ClaimObservation& o) {
  const std::string storage_class = o.claim.storage_class.value_or("");
  if (storage_class.empty() || o.storage_class != nullptr)
    return {
        o.self,
        false,
        "FailedBinding",
        (storage_class.empty() ? "no persistent volumes available for this claim and no storage class is set"
                               : "no persistent volumes available for this claim, and class " +
                                     Quoted(storage_class) + " makes none (" + api::kNoProvisioner + ")") +
            Mismatches(o),
        kController,
        ""};
  return {o.self,
          true,
          "ProvisioningFailed",
          "storageclass.storage.k8s.io " + Quoted(storage_class) + " not found" + Mismatches(o),
          kController,
          ""};
}

// Said once, by the controller and then by the provisioner, whose name is also the events' source.
void Make(const ClaimObservation& o, Plan& plan) {
  const std::string& provisioner = o.storage_class->provisioner;
  const std::string claim = Quoted(o.claim.meta.ns + "/" + o.claim.meta.name);
  const auto say = [&](bool warning, const char* reason, std::string message, const std::string& from) {
    plan.actions.push_back(EmitEvent{{o.self, warning, reason, std::move(message), from, ""}});
  };
  say(false, "ExternalProvisioning",
      "Waiting for a volume to be created either by the external provisioner '" + provisioner +
          "' or manually by the system administrator. If volume creation is delayed, please verify that the "
          "provisioner is running and correctly registered.",
      kController);
  say(false, "Provisioning", "External provisioner is provisioning volume for claim " + claim, provisioner);
  auto volume = Provision({o.claim, *o.storage_class, o.state_folder, o.node});
  if (!volume.ok())
    return say(true, "ProvisioningFailed",
               "failed to provision volume with StorageClass " + Quoted(o.storage_class->name) + ": " +
                   volume.error().message,
               provisioner);
  const std::string name = ProvisionedName(o.claim);
  CreateObject create{api::Object(std::move(volume).value()), {}};
  create.events.success = api::Event{
      o.self, false, "ProvisioningSucceeded", "Successfully provisioned volume " + name, provisioner, ""};
  create.events.failure =
      api::Event{o.self,
                 true,
                 "ProvisioningFailed",
                 "failed to provision volume with StorageClass " + Quoted(o.storage_class->name),
                 provisioner,
                 ""};
  plan.actions.push_back(PatchObject{
      o.claim.key(), o.claim.meta.uid, "",
      api::Object(api::AnnotationPatch("volume.kubernetes.io/storage-provisioner", provisioner))});
  plan.actions.push_back(std::move(create));
}

// No volume fits: one is made, or the reason to wait is said.
void Wait(const ClaimObservation& o, Plan& plan) {
  const bool makes = o.storage_class != nullptr && o.storage_class->provisioner != api::kNoProvisioner &&
                     o.claim.volume_name.empty();
  const bool is_made = std::ranges::any_of(
      o.volumes, [&](const PersistentVolume& v) { return v.meta.name == ProvisionedName(o.claim); });
  if (makes && !is_made) return Make(o, plan);
  plan.actions.push_back(EmitEvent{NoVolume(o)});
}

// A claim that asks for more than it has.
void Grow(const ClaimObservation& o, const PersistentVolume& volume, Plan& plan) {
  if (!(volume.capacity < o.claim.request)) return;
  const bool may =
      o.storage_class != nullptr && o.storage_class->allow_expansion && MadeByProvisioning(volume);
  if (!may) {
    plan.actions.push_back(EmitEvent{
        {o.self, true, "VolumeResizeFailed",
         "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
         "support resize",
         kController, ""}});
    return;
  }
  const std::string resizer = "external-resizer " + o.storage_class->provisioner;
  plan.actions.push_back(EmitEvent{
      {o.self, false, "Resizing", "External resizer is resizing volume " + volume.meta.name, resizer, ""}});
  plan.actions.push_back(PatchObject{{"PersistentVolume", "", volume.meta.name},
                                     volume.meta.uid,
                                     "",
                                     api::Object(api::VolumeCapacityPatch(o.claim.request))});
  plan.actions.push_back(PatchObject{o.claim.key(), o.claim.meta.uid, "",
                                     api::Object(api::ClaimCapacityPatch(o.claim.request))});
  plan.actions.push_back(
      EmitEvent{{o.self, false, "VolumeResizeSuccessful", "Resize volume succeeded", resizer, ""}});
}

bool HasFinalizer(const api::ObjectMeta& meta, const std::string& finalizer) {
  return std::ranges::find(meta.finalizers, finalizer) != meta.finalizers.end();
}

Plan Protect(const ClaimObservation& o) {
  Plan plan;
  if (o.in_use || !HasFinalizer(o.claim.meta, api::kClaimProtection)) return plan;
  plan.actions.push_back(
      PatchObject{o.claim.key(), o.claim.meta.uid, "",
                  api::Object(api::WithoutFinalizerPatch(o.claim.meta.finalizers, api::kClaimProtection))});
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
    const auto held = std::ranges::find_if(observed.volumes, [&](const PersistentVolume& v) {
      return v.meta.name == claim.volume_name && HeldBy(v, claim);
    });
    const bool there = held != observed.volumes.end();
    if (there != (claim.phase == "Bound"))
      plan.actions.push_back(PatchObject{claim.key(), claim.meta.uid, "",
                                         api::Object(api::PhasePatch(there ? "Bound" : "Lost"))});
    if (there) Grow(observed, *held, plan);
    return plan;
  }
  const bool waits = observed.storage_class != nullptr && observed.storage_class->wait_for_first_consumer &&
                     observed.node.empty() && claim.volume_name.empty();
  if (waits) {
    plan.actions.push_back(
        EmitEvent{{observed.self, false, "WaitForFirstConsumer",
                   "waiting for first consumer to be created before binding", kController, ""}});
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
    Wait(observed, plan);
  }
  return plan;
}

VolumePlan ReconcileVolume(const VolumeObservation& observed) {
  const PersistentVolume& volume = observed.volume;
  VolumePlan plan;
  const auto patch = [&](api::Json document) {
    plan.plan.actions.push_back(PatchObject{
        {"PersistentVolume", "", volume.meta.name}, volume.meta.uid, "", api::Object(std::move(document))});
  };
  const bool bound = !volume.claim_uid.empty() && observed.claim_exists;
  if (volume.meta.deletion_timestamp && !bound && HasFinalizer(volume.meta, api::kVolumeProtection)) {
    patch(api::WithoutFinalizerPatch(volume.meta.finalizers, api::kVolumeProtection));
    return plan;
  }
  const bool released = !volume.claim_uid.empty() && !bound;
  if (released && volume.reclaim_policy == "Delete" && !volume.meta.deletion_timestamp) {
    if (volume.phase != "Released" && volume.phase != "Failed") patch(api::PhasePatch("Released"));
    if (MadeByProvisioning(volume)) {
      plan.discard = true;
      plan.plan.actions.push_back(
          DeleteObject{{"PersistentVolume", "", volume.meta.name}, volume.meta.uid, {}});
    } else if (volume.source != "csi" && volume.phase != "Failed") {
      // A driver that made nothing deletes nothing: csi-provisioner leaves such a volume Released.
      const std::string why = "error getting deleter volume plugin for volume " + Quoted(volume.meta.name) +
                              ": no deletable volume plugin matched";
      patch(api::Json::object({{"status", api::Json::object({{"phase", "Failed"}, {"message", why}})}}));
      plan.plan.actions.push_back(
          EmitEvent{{observed.self, true, "VolumeFailedDelete", why, kController, ""}});
    }
    return plan;
  }
  const std::string phase = volume.claim_uid.empty() ? "Available" : bound ? "Bound" : "Released";
  if (volume.phase != phase) patch(api::PhasePatch(phase));
  return plan;
}

}  // namespace tfemu::controllers
