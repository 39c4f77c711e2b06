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

std::vector<std::string> PrintStorageClass(const Json& storage_class, Instant now) {
  std::string name = FieldText(storage_class, "metadata.name");
  const Json& annotations = Field(storage_class, "metadata.annotations");
  for (const char* word :
       {"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"})
    if (annotations.is_object() && annotations.contains(word) && annotations[word] == "true" &&
        !name.ends_with(")"))
      name += " (default)";
  return {name,
          FieldText(storage_class, "provisioner"),
          TextOr(FieldText(storage_class, "reclaimPolicy"), "Delete"),
          TextOr(FieldText(storage_class, "volumeBindingMode"), "Immediate"),
          TextOr(FieldText(storage_class, "allowVolumeExpansion"), "false"),
          AgeOf(storage_class, now)};
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
