// Makes PersistentVolumes for claims of a StorageClass (the external provisioners of NAS and of local-path),
// and says what becomes of the folder when one is deleted.
#pragma once

#include <optional>
#include <string>

#include "emulator/api/storage_class.h"
#include "emulator/api/volume.h"

namespace tfemu::controllers {

using api::ProvisionRequest;

// The name every provisioner gives: "pvc-<uid of the claim>".
std::string ProvisionedName(const api::PersistentVolumeClaim& claim);
// The document of the volume; an error is what ProvisioningFailed says.
Result<api::Json> Provision(const ProvisionRequest& request);

// A volume that Provision made, by all the signs that are in it: only of such a one the folder may go.
bool MadeByProvisioning(const api::PersistentVolume& volume);
// Provisioned volumes keep their data aside unless the class said otherwise (archiveOnDelete).
bool ArchivesOnDelete(const api::PersistentVolume& volume);
// Its class sets a quota: the capacity is what it may hold.
bool HasQuota(const api::PersistentVolume& volume);

}  // namespace tfemu::controllers
