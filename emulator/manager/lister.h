// Typed reads of the store.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/store/store.h"

namespace tfemu::manager {

template <class T>
std::vector<T> ListAll(const store::Store& store, const store::Query& query,
                       T (*decode)(const api::Object&)) {
  std::vector<T> decoded;
  for (const api::Object& object : store.List(query).objects) decoded.push_back(object.As(decode));
  return decoded;
}

// Objects of `query` whose controller is the object with this uid.
std::vector<api::Object> ListOwned(const store::Store& store, const store::Query& query,
                                   const std::string& owner_uid);

template <class T>
std::vector<T> ListOwned(const store::Store& store, const store::Query& query, const std::string& owner_uid,
                         T (*decode)(const api::Object&)) {
  std::vector<T> decoded;
  for (const api::Object& object : ListOwned(store, query, owner_uid)) decoded.push_back(object.As(decode));
  return decoded;
}

// The key of the object's controller when that is of `kind`.
std::optional<api::ObjectKey> ControllerKey(const api::Object& object, const std::string& kind);

}  // namespace tfemu::manager
