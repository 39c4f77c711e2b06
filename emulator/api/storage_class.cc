#include "emulator/api/storage_class.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/network_directory.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr const char* kIsDefault = "storageclass.kubernetes.io/is-default-class";
constexpr const char* kIsDefaultBeta = "storageclass.beta.kubernetes.io/is-default-class";

void CheckNasParameters(const Json& parameters, Messages& messages) {
  CheckOneOf(parameters, "volumeAs", "parameters", {"filesystem", "sharepath", "subpath"}, messages);
  CheckOneOf(parameters, "archiveOnDelete", "parameters", {"false", "true"}, messages);
  CheckOneOf(parameters, "volumeCapacity", "parameters", {"false", "true"}, messages);
  if (Text(parameters, "volumeAs") == "filesystem") {
    messages.push_back({"parameters.volumeAs",
                        "Invalid value: \"filesystem\": no NAS file systems are made here, only folders of "
                        "one: use subpath"});
    return;
  }
  const std::string server = Text(parameters, "server");
  if (server.empty()) messages.push_back({"parameters.server", "Required value: SERVER:/PATH"});
  const std::string host = server.substr(0, server.find(':'));
  if (!server.empty() &&
      (host.empty() || host.find('/') != std::string::npos || server.find("..") != std::string::npos))
    messages.push_back({"parameters.server", "Invalid value: \"" + server + "\": must be SERVER:/PATH"});
}

}  // namespace

StorageClass DecodeStorageClass(const Object& object) {
  const Json& doc = object.doc();
  StorageClass decoded;
  decoded.name = object.key().name;
  decoded.provisioner = Text(doc, "provisioner");
  if (const std::string policy = Text(doc, "reclaimPolicy"); !policy.empty()) decoded.reclaim_policy = policy;
  decoded.parameters = DecodeLabelMap(Member(doc, "parameters"));
  decoded.mount_options = Texts(doc, "mountOptions");
  decoded.wait_for_first_consumer = Text(doc, "volumeBindingMode") == "WaitForFirstConsumer";
  decoded.allow_expansion = Bool(doc, "allowVolumeExpansion");
  const ObjectMeta meta = DecodeMeta(object);
  for (const char* name : {kIsDefault, kIsDefaultBeta})
    if (const auto it = meta.annotations.find(name); it != meta.annotations.end() && it->second == "true")
      decoded.is_default = true;
  decoded.created = meta.creation_timestamp;
  return decoded;
}

void SetStorageClassDefaults(Json& storage_class) {
  SetDefault(storage_class, "reclaimPolicy", "Delete");
  SetDefault(storage_class, "volumeBindingMode", "Immediate");
}

std::vector<FieldMessage> ValidateStorageClass(const Json& storage_class, const Json* previous) {
  Messages messages;
  CheckMeta(storage_class, messages);
  if (Text(storage_class, "provisioner").empty()) messages.push_back({"provisioner", "Required value"});
  CheckOneOf(storage_class, "reclaimPolicy", "", {"Delete", "Retain"}, messages);
  CheckOneOf(storage_class, "volumeBindingMode", "", {"Immediate", "WaitForFirstConsumer"}, messages);
  for (FieldMessage& message : messages)
    if (message.field.starts_with('.')) message.field.erase(0, 1);
  if (Text(storage_class, "provisioner") == kNasDriver)
    CheckNasParameters(Member(storage_class, "parameters"), messages);
  if (previous == nullptr) return messages;
  for (const char* fixed : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"})
    if (Member(storage_class, fixed) != Member(*previous, fixed))
      messages.push_back({fixed, std::string("Forbidden: updates to ") + fixed + " are forbidden."});
  return messages;
}

std::string ProvisionerProblem(const std::string& provisioner) {
  if (provisioner == kNasDriver || provisioner == kNoProvisioner || provisioner == kLocalPathProvisioner)
    return "";
  if (provisioner == kOssDriver)
    return "the driver of OSS mounts buckets and makes none: write a PersistentVolume that names the bucket";
  if (const std::string problem = CsiDriverProblem(provisioner);
      problem.find("did you mean") != std::string::npos)
    return "this provisioner is not provided" + problem.substr(problem.find(';'));
  return std::string("this provisioner is not provided; ") + kNasDriver + ", " + kLocalPathProvisioner +
         " and " + kNoProvisioner + " are";
}

Messages ClassWarnings(const Json& storage_class) {
  Messages warnings;
  const std::string provisioner = Text(storage_class, "provisioner");
  if (const std::string problem = ProvisionerProblem(provisioner); !problem.empty())
    warnings.push_back(
        {"provisioner", "\"" + provisioner + "\": " + problem + "; claims of this class wait"});
  return warnings;
}

bool NamesClass(const Json& claim) { return Member(Member(claim, "spec"), "storageClassName").is_string(); }

void SetClass(Json& claim, const std::string& name) { claim["spec"]["storageClassName"] = name; }

const StorageClass* DefaultClass(const std::vector<StorageClass>& classes) {
  const StorageClass* newest = nullptr;
  for (const StorageClass& each : classes)
    if (each.is_default && (newest == nullptr || each.created > newest->created)) newest = &each;
  return newest;
}

}  // namespace tfemu::api
