// metav1.ObjectMeta: what every object carries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/api/selector.h"
#include "emulator/base/executor.h"

namespace tfemu::api {

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false, block_owner_deletion = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string name, ns, uid;
  uint64_t resource_version = 0;
  int64_t generation = 0;
  Labels labels, annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
  Instant creation_timestamp;
  std::optional<Instant> deletion_timestamp;
  std::optional<int64_t> deletion_grace_period_seconds;

  const OwnerReference* controller() const;  // the owner with controller=true, or null
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

ObjectMeta DecodeMeta(const Object& object);
const std::string& ControllerUid(const Object& object);  // "" without a controller; cheaper than DecodeMeta
Labels DecodeLabelMap(const Json& map);                  // values that are no strings are left out
Json EncodeOwnerReferences(const std::vector<OwnerReference>& references);
// Of the whole document, as the next; other finalizers stay.
Json WithoutFinalizerPatch(std::vector<std::string> finalizers, const std::string& gone);
Json OwnersPatch(const std::vector<OwnerReference>& owners);
OwnerReference ControllerReference(std::string api_version, std::string kind, const ObjectMeta& owner);

// A reference to an object as events carry it.
struct ObjectReference {
  std::string api_version, kind, ns, name, uid;
  uint64_t resource_version = 0;
  friend bool operator==(const ObjectReference&, const ObjectReference&) = default;
};
ObjectReference ReferenceTo(const Object& object);

}  // namespace tfemu::api
