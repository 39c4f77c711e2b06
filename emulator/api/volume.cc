#include "emulator/api/volume.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/network_directory.h"
#include "emulator/api/validation.h"
#include "emulator/api/volume_source.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

const std::vector<std::string_view> kAccessModes = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
                                                    "ReadWriteOncePod"};

constexpr const char* kVolumeSources[] = {"csi", "flexVolume", "hostPath", "local", "nfs"};

void CheckAccessModes(const Json& spec, Messages& messages) {
  CheckRequired(spec, "accessModes", "spec", messages);
  for (size_t i = 0; const Json& mode : Items(spec, "accessModes")) {
    const std::string path = "spec.accessModes[" + std::to_string(i++) + "]";
    const Json wrapper = Json::object({{"mode", mode}});
    Messages found;
    CheckOneOf(wrapper, "mode", path, kAccessModes, found);
    for (auto& message : found) messages.push_back({path, message.message});
  }
  const auto modes = Texts(spec, "accessModes");
  if (modes.size() > 1 && std::ranges::find(modes, "ReadWriteOncePod") != modes.end())
    messages.push_back(
        {"spec.accessModes", "Forbidden: may not use ReadWriteOncePod with other access modes"});
}

void CanonicalStorage(Json& amounts) {
  if (!amounts.is_object()) return;
  for (auto& [name, amount] : amounts.items())
    if (amount.is_number()) amount = amount.dump();
}

NodeTerms DecodeNodeTerms(const Json& required) {
  NodeTerms terms;
  for (const Json& term : Items(required, "nodeSelectorTerms")) {
    Json expressions = Json::array();
    for (const char* list : {"matchExpressions", "matchFields"})
      for (const Json& expression : Items(term, list)) expressions.push_back(expression);
    terms.terms.push_back(DecodeSelector(Json::object({{"matchExpressions", expressions}})));
  }
  return terms;
}

void DecodeSource(const Json& spec, PersistentVolume& volume) {
  for (const char* source : kVolumeSources)
    if (Member(spec, source).is_object()) volume.source = source;
  volume.network = DecodeNetworkDirectory(spec, volume.unsupported);
  for (const std::string& options : Texts(spec, "mountOptions"))
    for (const std::string& option : Split(options, ','))
      if (volume.network && option == "ro") volume.network->read_only = true;
  volume.host_path = Text(Member(spec, "hostPath"), "path");
  volume.host_path_type = Text(Member(spec, "hostPath"), "type");
  volume.local_path = Text(Member(spec, "local"), "path");
  volume.attributes = DecodeLabelMap(Member(Member(spec, "csi"), "volumeAttributes"));
  if (!volume.network && volume.host_path.empty() && volume.local_path.empty() && volume.unsupported.empty())
    volume.unsupported = "the volume has no source that is provided";
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
  DecodeSource(spec, volume);
  volume.nodes = DecodeNodeTerms(Member(Member(spec, "nodeAffinity"), "required"));
  if (const std::string policy = Text(spec, "persistentVolumeReclaimPolicy"); !policy.empty())
    volume.reclaim_policy = policy;
  return volume;
}

bool NodeTerms::Matches(const Labels& node_labels, const std::string& node_name) const {
  if (terms.empty()) return true;
  Labels all = node_labels;
  all["metadata.name"] = node_name;  // what matchFields asks for
  return std::ranges::any_of(terms, [&](const Selector& term) { return term.Matches(all); });
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
  const auto capacity = DecodeQuantity(Member(Member(spec, "capacity"), "storage"));
  if (!capacity) messages.push_back({"spec.capacity", "Required value: storage must be given"});
  else if (capacity->milli <= 0)
    messages.push_back({"spec.capacity.storage", "Invalid value: must be greater than zero"});
  CheckOneOf(spec, "persistentVolumeReclaimPolicy", "spec", {"Delete", "Recycle", "Retain"}, messages);
  CheckOneOf(spec, "volumeMode", "spec", {"Block", "Filesystem"}, messages);
  int sources = 0;
  for (const char* source : kVolumeSources) sources += Member(spec, source).is_object();
  if (sources == 0) messages.push_back({"spec", "Required value: must specify a volume type"});
  if (sources > 1) messages.push_back({"spec", "Forbidden: may not specify more than 1 volume type"});
  for (auto& message : CheckVolumeSource(spec, "spec", true)) messages.push_back(std::move(message));
  if (Member(spec, "local").is_object() && !Member(Member(spec, "nodeAffinity"), "required").is_object())
    messages.push_back({"spec.nodeAffinity", "Required value: Local volume requires node affinity"});
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
  const auto held =
      DecodeQuantity(Member(Member(Member(*previous, "status"), "capacity"), "storage")).value_or(Quantity{});
  if (request && *request < held)
    messages.push_back(
        {"spec.resources.requests.storage", "Forbidden: field can not be less than status.capacity"});
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

Json AnnotationPatch(const std::string& name, const Json& value) {
  return Json::object({{"metadata", Json::object({{"annotations", Json::object({{name, value}})}})}});
}

Json UsagePatch(uint64_t used_bytes, uint64_t quota_bytes) {
  const Json annotations =
      Json::object({{kUsedBytes, std::to_string(used_bytes)}, {kQuotaBytes, std::to_string(quota_bytes)}});
  return Json::object({{"metadata", Json::object({{"annotations", annotations}})}});
}

Json VolumeCapacityPatch(Quantity capacity) {
  const Json storage = Json::object({{"storage", FormatQuantity(capacity, true)}});
  return Json::object({{"spec", Json::object({{"capacity", storage}})}});
}

Json ClaimCapacityPatch(Quantity capacity) {
  const Json storage = Json::object({{"storage", FormatQuantity(capacity, true)}});
  return Json::object({{"status", Json::object({{"capacity", storage}})}});
}

}  // namespace tfemu::api
