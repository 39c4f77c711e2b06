// v1.PersistentVolume and v1.PersistentVolumeClaim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/api/pod.h"
#include "emulator/api/quantity.h"

namespace tfemu::api {

// Both stay while they are in use.
inline constexpr const char* kVolumeProtection = "kubernetes.io/pv-protection";
inline constexpr const char* kClaimProtection = "kubernetes.io/pvc-protection";

// spec.nodeAffinity.required: one of the terms must match; no terms match every node.
struct NodeTerms {
  std::vector<Selector> terms;
  bool Matches(const Labels& node_labels, const std::string& node_name) const;
  friend bool operator==(const NodeTerms&, const NodeTerms&) = default;
};

struct PersistentVolume {
  ObjectMeta meta;
  Quantity capacity;
  std::vector<std::string> access_modes;
  std::string storage_class, volume_mode = "Filesystem", phase;
  std::string claim_ns, claim_name, claim_uid;  // spec.claimRef; empty when nobody holds it
  std::optional<NetworkDirectory> network;
  std::string host_path, host_path_type;  // when it is a hostPath
  std::string local_path;                 // when it is local
  NodeTerms nodes;
  std::string reclaim_policy = "Retain", source;  // the source's member: "csi", "nfs", …
  Labels attributes;                              // of csi: volumeAttributes
  std::string unsupported;                        // why pods can't use it, or ""
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

inline constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr const char* kProvisionedBy = "pv.kubernetes.io/provisioned-by";
// What a directory with a quota holds, in bytes, as annotations of volume and claim.
inline constexpr const char* kUsedBytes = "tfemu.dev/used-bytes";
inline constexpr const char* kQuotaBytes = "tfemu.dev/quota-bytes";

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
// One annotation of the whole document; a null removes it.
Json AnnotationPatch(const std::string& name, const Json& value);
Json UsagePatch(uint64_t used_bytes, uint64_t quota_bytes);
// For a claim that grew: of the volume, and of the claim.
Json VolumeCapacityPatch(Quantity capacity);
Json ClaimCapacityPatch(Quantity capacity);

}  // namespace tfemu::api
