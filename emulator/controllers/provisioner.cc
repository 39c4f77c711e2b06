#include "emulator/controllers/provisioner.h"

#include <nlohmann/json.hpp>

#include "emulator/api/network_directory.h"

namespace tfemu::controllers {
namespace {

using api::Json;

std::string Get(const api::Labels& map, const std::string& name) {
  const auto it = map.find(name);
  return it == map.end() ? "" : it->second;
}

Result<void> CheckRequest(const ProvisionRequest& request) {
  const api::PersistentVolumeClaim& claim = request.claim;
  const std::string& provisioner = request.storage_class.provisioner;
  if (const std::string problem = api::ProvisionerProblem(provisioner); !problem.empty())
    return Error{Reason::kInvalid, problem};
  if (!claim.selector.empty()) return Error{Reason::kInvalid, "claim Selector is not supported"};
  if (claim.volume_mode == "Block") return Error{Reason::kInvalid, "there are no block devices here"};
  if (provisioner != api::kLocalPathProvisioner) return {};
  for (const std::string& mode : claim.access_modes)
    if (mode != "ReadWriteOnce" && mode != "ReadWriteOncePod")
      return Error{Reason::kInvalid,
                   "NodePath only supports ReadWriteOnce and ReadWriteOncePod (1.22+) access modes"};
  return {};
}

}  // namespace

std::string ProvisionedName(const api::PersistentVolumeClaim& claim) { return "pvc-" + claim.meta.uid; }

Result<Json> Provision(const ProvisionRequest& request) {
  RETURN_IF_ERROR(CheckRequest(request));
  return api::MakeProvisionedVolume(request);
}

bool MadeByProvisioning(const api::PersistentVolume& volume) {
  const std::string by = Get(volume.meta.annotations, api::kProvisionedBy);
  if (!volume.meta.name.starts_with("pvc-") || volume.claim_uid.empty() ||
      volume.meta.name != "pvc-" + volume.claim_uid)
    return false;
  const auto ends_with_name = [&](const std::string& path) {
    return path.substr(path.find_last_of('/') + 1).starts_with(volume.meta.name);
  };
  if (by == api::kNasDriver)
    return volume.network && Get(volume.attributes, "volumeAs") == "subpath" &&
           ends_with_name(volume.network->path);
  return by == api::kLocalPathProvisioner && ends_with_name(volume.host_path);
}

bool ArchivesOnDelete(const api::PersistentVolume& volume) {
  return volume.network && Get(volume.attributes, "archiveOnDelete") != "false";
}

bool HasQuota(const api::PersistentVolume& volume) {
  return MadeByProvisioning(volume) && Get(volume.attributes, "volumeCapacity") == "true";
}

}  // namespace tfemu::controllers
