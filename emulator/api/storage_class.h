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
  std::vector<std::string> mount_options;
  bool wait_for_first_consumer = false, allow_expansion = false, is_default = false;
  Instant created;
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

StorageClass DecodeStorageClass(const Object& object);
void SetStorageClassDefaults(Json& storage_class);
std::vector<FieldMessage> ValidateStorageClass(const Json& storage_class, const Json* previous);
Messages ClassWarnings(const Json& storage_class);

struct PersistentVolumeClaim;
struct ProvisionRequest {
  const PersistentVolumeClaim& claim;
  const StorageClass& storage_class;
  std::string state_folder;  // for local-path
  std::string node;          // of the pod that waits, when the class waits for one
};
Json MakeProvisionedVolume(const ProvisionRequest& request);

// Why volumes can't be made by this provisioner, or "".
std::string ProvisionerProblem(const std::string& provisioner);
// The class that a claim without one gets: the newest default, or null.
const StorageClass* DefaultClass(const std::vector<StorageClass>& classes);
bool NamesClass(const Json& claim);  // also when it is ""
void SetClass(Json& claim, const std::string& name);

}  // namespace tfemu::api
