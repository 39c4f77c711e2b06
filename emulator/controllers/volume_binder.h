// Ties claims to volumes (kube-controller-manager's persistent volume controller): class, access modes,
// selector, size; has volumes made for claims of a class, and ends those whose claim is gone.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/volume.h"
#include "emulator/controllers/action.h"
#include "emulator/controllers/provisioner.h"

namespace tfemu::controllers {

struct ClaimObservation {
  api::PersistentVolumeClaim claim;
  api::ObjectReference self;
  std::vector<api::PersistentVolume> volumes;        // all, by name
  bool in_use = false;                               // an unfinished pod mounts the claim
  const api::StorageClass* storage_class = nullptr;  // the claim's, when there is one of that name
  std::string state_folder;                          // for volumes that local-path makes
  // A pod that waits for the claim has this node (annotation selected-node); its labels.
  std::string node = {};
  api::Labels node_labels = {};
};
Plan ReconcileClaim(const ClaimObservation& observed);

struct VolumeObservation {
  api::PersistentVolume volume;
  bool claim_exists = false;  // the claim of claimRef, with its uid
  api::ObjectReference self = {};
};
struct VolumePlan {
  Plan plan;
  bool discard = false;  // the folder, which was provisioned, goes with the volume
};
VolumePlan ReconcileVolume(const VolumeObservation& observed);

// Why `volume` does not serve `claim`, in a few words; "" when it does.
std::string Mismatch(const api::PersistentVolumeClaim& claim, const api::PersistentVolume& volume);

}  // namespace tfemu::controllers
