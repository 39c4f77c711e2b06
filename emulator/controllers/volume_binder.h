// Ties claims to volumes (kube-controller-manager's persistent volume controller): class, access modes,
// selector, size.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/volume.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct ClaimObservation {
  api::PersistentVolumeClaim claim;
  api::ObjectReference self;
  std::vector<api::PersistentVolume> volumes;  // all, by name
  bool in_use = false;                         // an unfinished pod mounts the claim
};
Plan ReconcileClaim(const ClaimObservation& observed);

struct VolumeObservation {
  api::PersistentVolume volume;
  bool claim_exists = false;  // the claim of claimRef, with its uid
};
Plan ReconcileVolume(const VolumeObservation& observed);

// Why `volume` does not serve `claim`, in a few words; "" when it does.
std::string Mismatch(const api::PersistentVolumeClaim& claim, const api::PersistentVolume& volume);

}  // namespace tfemu::controllers
