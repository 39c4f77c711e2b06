// The cells of persistent volumes and claims.
#include "emulator/api/printer_fields.h"

namespace tfemu::api {
namespace {

bool Terminating(const Json& doc) { return !FieldText(doc, "metadata.deletionTimestamp").empty(); }

}  // namespace

std::vector<std::string> PrintVolume(const Json& volume, Instant now) {
  std::string claim = FieldText(volume, "spec.claimRef.name");
  if (!claim.empty()) claim = FieldText(volume, "spec.claimRef.namespace") + "/" + claim;
  return {FieldText(volume, "metadata.name"),
          FieldText(volume, "spec.capacity.storage"),
          FormatAccessModes(Field(volume, "spec.accessModes")),
          FieldText(volume, "spec.persistentVolumeReclaimPolicy"),
          Terminating(volume) ? "Terminating" : FieldText(volume, "status.phase"),
          claim,
          FieldText(volume, "spec.storageClassName"),
          TextOr(FieldText(volume, "spec.volumeAttributesClassName"), "<unset>"),
          FieldText(volume, "status.reason"),
          AgeOf(volume, now),
          TextOr(FieldText(volume, "spec.volumeMode"), "<unset>")};
}

std::vector<std::string> PrintClaim(const Json& claim, Instant now) {
  const std::string volume = FieldText(claim, "spec.volumeName");
  return {FieldText(claim, "metadata.name"),
          Terminating(claim) ? "Terminating" : FieldText(claim, "status.phase"),
          volume,
          volume.empty() ? "" : FieldText(claim, "status.capacity.storage"),
          volume.empty() ? "" : FormatAccessModes(Field(claim, "status.accessModes")),
          FieldText(claim, "spec.storageClassName"),
          TextOr(FieldText(claim, "spec.volumeAttributesClassName"), "<unset>"),
          AgeOf(claim, now),
          TextOr(FieldText(claim, "spec.volumeMode"), "<unset>")};
}

}  // namespace tfemu::api
