#include "emulator/api/volume.h"

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/network_directory.h"
#include "emulator/api/validation.h"

namespace tfemu::api {
namespace {

const std::vector<std::string_view> kAccessModes = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
                                                    "ReadWriteOncePod"};

void CheckAccessModes(const Json& spec, Messages& messages) {
  CheckRequired(spec, "accessModes", "spec", messages);
  for (size_t i = 0; const Json& mode : Items(spec, "accessModes")) {
    const std::string path = "spec.accessModes[" + std::to_string(i++) + "]";
    const Json wrapper = Json::object({{"mode", mode}});
    Messages found;
    CheckOneOf(wrapper, "mode", path, kAccessModes, found);
    for (auto& message : found) messages.push_back({path, message.message});
  }
}

void CanonicalStorage(Json& amounts) {
  if (!amounts.is_object()) return;
  for (auto& [name, amount] : amounts.items())
    if (amount.is_number()) amount = amount.dump();
}

}  // namespace

PersistentVolume DecodePersistentVolume(const Object& object) {
  PersistentVolume volume;
  volume.meta = DecodeMeta(object);
  const Json& spec = Member(object.doc(), "spec");
  volume.capacity = DecodeQuantity(Member(Member(spec, "capacity"), "storage")).value_or(Quantity{});
  volume.access_modes = Texts(spec, "accessModes");
  volume.storage_class = Text(spec, "storageClassName");
  if (const std::string mode = Text(spec, "volumeMode"); !mode.empty()) volume.volume_mode = mode;
  volume.phase = Text(Member(object.doc(), "status"), "phase");
  const Json& claim = Member(spec, "claimRef");
  volume.claim_ns = Text(claim, "namespace");
  volume.claim_name = Text(claim, "name");
  volume.claim_uid = Text(claim, "uid");
  volume.network = DecodeNetworkDirectory(spec, volume.unsupported);
  volume.host_path = Text(Member(spec, "hostPath"), "path");
  volume.host_path_type = Text(Member(spec, "hostPath"), "type");
  if (!volume.network && volume.host_path.empty() && volume.unsupported.empty())
    volume.unsupported = "the volume is neither flexVolume alicloud/nas, nfs nor hostPath";
  return volume;
}

PersistentVolumeClaim DecodePersistentVolumeClaim(const Object& object) {
  PersistentVolumeClaim claim;
  claim.meta = DecodeMeta(object);
  const Json& spec = Member(object.doc(), "spec");
  claim.request =
      DecodeQuantity(Member(Member(Member(spec, "resources"), "requests"), "storage")).value_or(Quantity{});
  claim.access_modes = Texts(spec, "accessModes");
  if (Member(spec, "storageClassName").is_string()) claim.storage_class = Text(spec, "storageClassName");
  claim.selector = DecodeSelector(Member(spec, "selector"));
  if (const std::string mode = Text(spec, "volumeMode"); !mode.empty()) claim.volume_mode = mode;
  claim.volume_name = Text(spec, "volumeName");
  claim.phase = Text(Member(object.doc(), "status"), "phase");
  return claim;
}

void SetPersistentVolumeDefaults(Json& volume) {
  Json& spec = volume["spec"];
  SetDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
  SetDefault(spec, "volumeMode", "Filesystem");
  if (spec.contains("capacity")) CanonicalStorage(spec["capacity"]);
  if (Member(spec, "hostPath").is_object()) SetDefault(spec["hostPath"], "type", "");
  SetDefault(volume["status"], "phase", "Pending");
}

void SetPersistentVolumeClaimDefaults(Json& claim) {
  SetDefault(claim["spec"], "volumeMode", "Filesystem");
  if (Member(Member(claim["spec"], "resources"), "requests").is_object())
    CanonicalStorage(claim["spec"]["resources"]["requests"]);
  SetDefault(claim["status"], "phase", "Pending");
}

std::vector<FieldMessage> ValidatePersistentVolume(const Json& volume, const Json*) {
  Messages messages;
  CheckMeta(volume, messages);
  const Json& spec = Member(volume, "spec");
  CheckAccessModes(spec, messages);
  if (!DecodeQuantity(Member(Member(spec, "capacity"), "storage")))
    messages.push_back({"spec.capacity", "Required value: storage must be given"});
  CheckOneOf(spec, "persistentVolumeReclaimPolicy", "spec", {"Delete", "Recycle", "Retain"}, messages);
  CheckOneOf(spec, "volumeMode", "spec", {"Block", "Filesystem"}, messages);
  int sources = 0;
  for (const char* source : {"csi", "flexVolume", "hostPath", "local", "nfs"})
    sources += Member(spec, source).is_object();
  if (sources == 0) messages.push_back({"spec", "Required value: must specify a volume type"});
  if (sources > 1) messages.push_back({"spec", "Forbidden: may not specify more than 1 volume type"});
  return messages;
}

std::vector<FieldMessage> ValidatePersistentVolumeClaim(const Json& claim, const Json* previous) {
  Messages messages;
  CheckMeta(claim, messages);
  const Json& spec = Member(claim, "spec");
  CheckAccessModes(spec, messages);
  const auto request = DecodeQuantity(Member(Member(Member(spec, "resources"), "requests"), "storage"));
  if (!request) messages.push_back({"spec.resources.requests.storage", "Required value"});
  else if (request->milli <= 0)
    messages.push_back({"spec.resources.requests.storage", "Invalid value: must be greater than zero"});
  if (previous == nullptr) return messages;
  Json before = Member(*previous, "spec"), after = spec;
  for (Json* side : {&before, &after}) side->erase("resources");
  if (Text(before, "volumeName").empty()) after.erase("volumeName");
  if (before != after)
    messages.push_back({"spec",
                        "Forbidden: spec is immutable after creation except resources.requests and "
                        "volumeAttributesClassName for bound claims"});
  return messages;
}

Json BindVolumePatch(const PersistentVolumeClaim& claim) {
  const Json reference = Json::object({{"apiVersion", "v1"},
                                       {"kind", "PersistentVolumeClaim"},
                                       {"name", claim.meta.name},
                                       {"namespace", claim.meta.ns},
                                       {"resourceVersion", std::to_string(claim.meta.resource_version)},
                                       {"uid", claim.meta.uid}});
  return Json::object(
      {{"metadata",
        Json::object({{"annotations", Json::object({{"pv.kubernetes.io/bound-by-controller", "yes"}})}})},
       {"spec", Json::object({{"claimRef", reference}})},
       {"status", Json::object({{"phase", "Bound"}})}});
}

Json BindClaimPatch(const PersistentVolume& volume) {
  const Json annotations = Json::object(
      {{"pv.kubernetes.io/bind-completed", "yes"}, {"pv.kubernetes.io/bound-by-controller", "yes"}});
  const Json capacity = Json::object({{"storage", FormatQuantity(volume.capacity, true)}});
  return Json::object(
      {{"metadata", Json::object({{"annotations", annotations}})},
       {"spec", Json::object({{"volumeName", volume.meta.name}})},
       {"status",
        Json::object({{"phase", "Bound"}, {"accessModes", volume.access_modes}, {"capacity", capacity}})}});
}

Json PhasePatch(const std::string& phase) {
  return Json::object({{"status", Json::object({{"phase", phase}})}});
}

}  // namespace tfemu::api
