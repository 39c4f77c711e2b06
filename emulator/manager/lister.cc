#include "emulator/manager/lister.h"

namespace tfemu::manager {

std::vector<api::Object> ListOwned(const store::Store& store, const store::Query& query,
                                   const std::string& owner_uid) {
  std::vector<api::Object> owned = store.List(query).objects;
  std::erase_if(owned, [&](const api::Object& object) { return api::ControllerUid(object) != owner_uid; });
  return owned;
}

std::optional<api::ObjectKey> ControllerKey(const api::Object& object, const std::string& kind) {
  const api::ObjectMeta meta = api::DecodeMeta(object);
  const api::OwnerReference* owner = meta.controller();
  if (owner == nullptr || owner->kind != kind) return std::nullopt;
  return api::ObjectKey{kind, meta.ns, owner->name};
}

}  // namespace tfemu::manager
