// storage.k8s.io/v1 StorageClass.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/api/validation.h"

namespace tfemu::api {

inline constexpr const char* kNoProvisioner = "kubernetes.io/no-provisioner";
inline constexpr const char* kLocalPathProvisioner = "rancher.io/local-path";

struct StorageClass {
  std::string name, provisioner, reclaim_policy = "Delete";
  Labels parameters;
  bool wait_for_first_consumer = false, allow_expansion = false, is_default = false;
  Instant created;
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

StorageClass DecodeStorageClass(const Object& object);
void SetStorageClassDefaults(Json& storage_class);
std::vector<FieldMessage> ValidateStorageClass(const Json& storage_class, const Json* previous);
Messages ClassWarnings(const Json& storage_class);

// Why volumes can't be made by this provisioner, or "".
std::string ProvisionerProblem(const std::string& provisioner);
// The class that a claim without one gets: the newest default, or null.
const StorageClass* DefaultClass(const std::vector<StorageClass>& classes);

}  // namespace tfemu::api
