#include "emulator/api/meta.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {

const OwnerReference* ObjectMeta::controller() const {
  const auto it = std::ranges::find_if(owner_references, &OwnerReference::controller);
  return it == owner_references.end() ? nullptr : &*it;
}

const std::string& ControllerUid(const Object& object) {
  static const std::string kNone;
  for (const Json& owner : Items(Member(object.doc(), "metadata"), "ownerReferences"))
    if (Bool(owner, "controller") && Member(owner, "uid").is_string())
      return owner["uid"].get_ref<const std::string&>();
  return kNone;
}

Labels DecodeLabelMap(const Json& map) {
  Labels labels;
  if (!map.is_object()) return labels;
  for (const auto& [key, value] : map.items())
    if (value.is_string()) labels[key] = value.get<std::string>();
  return labels;
}

ObjectMeta DecodeMeta(const Object& object) {
  const Json& meta = Member(object.doc(), "metadata");
  ObjectMeta decoded;
  decoded.name = Text(meta, "name");
  decoded.ns = Text(meta, "namespace");
  decoded.uid = Text(meta, "uid");
  decoded.resource_version = object.resource_version();
  decoded.generation = Int(meta, "generation").value_or(0);
  decoded.labels = DecodeLabelMap(Member(meta, "labels"));
  decoded.annotations = DecodeLabelMap(Member(meta, "annotations"));
  for (const Json& owner : Items(meta, "ownerReferences"))
    decoded.owner_references.push_back({Text(owner, "apiVersion"), Text(owner, "kind"), Text(owner, "name"),
                                        Text(owner, "uid"), Bool(owner, "controller"),
                                        Bool(owner, "blockOwnerDeletion")});
  decoded.finalizers = Texts(meta, "finalizers");
  decoded.creation_timestamp = ParseTime(Text(meta, "creationTimestamp")).value_or(Instant{});
  if (Member(meta, "deletionTimestamp").is_string())
    decoded.deletion_timestamp = ParseTime(Text(meta, "deletionTimestamp"));
  decoded.deletion_grace_period_seconds = Int(meta, "deletionGracePeriodSeconds");
  return decoded;
}

Json EncodeOwnerReferences(const std::vector<OwnerReference>& references) {
  Json list = Json::array();
  for (const auto& r : references)
    list.push_back(Json::object({{"apiVersion", r.api_version},
                                 {"blockOwnerDeletion", r.block_owner_deletion},
                                 {"controller", r.controller},
                                 {"kind", r.kind},
                                 {"name", r.name},
                                 {"uid", r.uid}}));
  return list;
}

Json WithoutFinalizerPatch(std::vector<std::string> finalizers, const std::string& gone) {
  std::erase(finalizers, gone);
  const Json left = finalizers.empty() ? Json(nullptr) : Json(finalizers);
  return Json::object({{"metadata", Json::object({{"finalizers", left}})}});
}

Json OwnersPatch(const std::vector<OwnerReference>& owners) {
  const Json list = owners.empty() ? Json(nullptr) : EncodeOwnerReferences(owners);
  return Json::object({{"metadata", Json::object({{"ownerReferences", list}})}});
}

OwnerReference ControllerReference(std::string api_version, std::string kind, const ObjectMeta& owner) {
  return {std::move(api_version), std::move(kind), owner.name, owner.uid, true, true};
}

ObjectReference ReferenceTo(const Object& object) {
  const auto& key = object.key();
  return {Text(object.doc(), "apiVersion"), key.kind, key.ns, key.name, object.uid(),
          object.resource_version()};
}

}  // namespace tfemu::api
