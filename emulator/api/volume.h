// v1.PersistentVolume and v1.PersistentVolumeClaim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/api/pod.h"
#include "emulator/api/quantity.h"

namespace tfemu::api {

struct PersistentVolume {
  ObjectMeta meta;
  Quantity capacity;
  std::vector<std::string> access_modes;
  std::string storage_class, volume_mode = "Filesystem", phase;
  std::string claim_ns, claim_name, claim_uid;  // spec.claimRef; empty when nobody holds it
  std::optional<NetworkDirectory> network;
  std::string host_path, host_path_type;  // when it is a hostPath
  std::string unsupported;                // why pods can't use it, or ""
  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

struct PersistentVolumeClaim {
  ObjectMeta meta;
  Quantity request;
  std::vector<std::string> access_modes;
  std::optional<std::string> storage_class;  // unset: any class without a default
  Selector selector;
  std::string volume_mode = "Filesystem", volume_name, phase;

  ObjectKey key() const { return {"PersistentVolumeClaim", meta.ns, meta.name}; }
  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

PersistentVolume DecodePersistentVolume(const Object& object);
PersistentVolumeClaim DecodePersistentVolumeClaim(const Object& object);

void SetPersistentVolumeDefaults(Json& volume);
void SetPersistentVolumeClaimDefaults(Json& claim);
std::vector<FieldMessage> ValidatePersistentVolume(const Json& volume, const Json* previous);
std::vector<FieldMessage> ValidatePersistentVolumeClaim(const Json& claim, const Json* previous);

// Merge patches, of the whole document, that tie a claim and a volume together as the PV controller does.
Json BindVolumePatch(const PersistentVolumeClaim& claim);
Json BindClaimPatch(const PersistentVolume& volume);
Json PhasePatch(const std::string& phase);

}  // namespace tfemu::api
