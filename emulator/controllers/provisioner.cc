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

// "host:/a/b/" is the server host and the path /a/b.
std::pair<std::string, std::string> SplitServer(const std::string& server) {
  const std::string first = server.substr(0, server.find(','));
  const size_t colon = first.find(':');
  std::string path = colon == std::string::npos ? "/" : first.substr(colon + 1);
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!path.starts_with('/')) path.insert(path.begin(), '/');
  return {first.substr(0, colon), path};
}

void AddNasSource(const ProvisionRequest& request, const std::string& name, Json& spec) {
  const api::Labels& parameters = request.storage_class.parameters;
  const auto [server, root] = SplitServer(Get(parameters, "server"));
  const bool shared = Get(parameters, "volumeAs") == "sharepath";
  Json attributes = Json::object({{"server", server},
                                  {"path", shared ? root : (root == "/" ? "" : root) + "/" + name},
                                  {"volumeAs", shared ? "sharepath" : "subpath"}});
  for (const char* passed : {"archiveOnDelete", "mode", "modeType", "volumeCapacity", "vers"})
    if (const std::string value = Get(parameters, passed); !value.empty()) attributes[passed] = value;
  spec["csi"] =
      Json::object({{"driver", api::kNasDriver}, {"volumeHandle", name}, {"volumeAttributes", attributes}});
}

void AddLocalSource(const ProvisionRequest& request, const std::string& name, Json& spec) {
  const std::string folder = request.state_folder + "/local-path/" + name + "_" + request.claim.meta.ns +
                             "_" + request.claim.meta.name;
  spec["hostPath"] = Json::object({{"path", folder}, {"type", "DirectoryOrCreate"}});
  if (request.node.empty()) return;
  const Json expression = Json::object(
      {{"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", Json::array({request.node})}});
  const Json term = Json::object({{"matchExpressions", Json::array({expression})}});
  const Json required = Json::object({{"nodeSelectorTerms", Json::array({term})}});
  spec["nodeAffinity"] = Json::object({{"required", required}});
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
  const api::PersistentVolumeClaim& claim = request.claim;
  const std::string name = ProvisionedName(claim);
  const Json reference = Json::object({{"apiVersion", "v1"},
                                       {"kind", "PersistentVolumeClaim"},
                                       {"name", claim.meta.name},
                                       {"namespace", claim.meta.ns},
                                       {"resourceVersion", std::to_string(claim.meta.resource_version)},
                                       {"uid", claim.meta.uid}});
  Json spec =
      Json::object({{"accessModes", claim.access_modes},
                    {"capacity", Json::object({{"storage", api::FormatQuantity(claim.request, true)}})},
                    {"claimRef", reference},
                    {"persistentVolumeReclaimPolicy", request.storage_class.reclaim_policy},
                    {"storageClassName", request.storage_class.name},
                    {"volumeMode", claim.volume_mode}});
  if (request.storage_class.provisioner == api::kNasDriver) AddNasSource(request, name, spec);
  else AddLocalSource(request, name, spec);
  const Json annotations = Json::object({{api::kProvisionedBy, request.storage_class.provisioner}});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "PersistentVolume"},
                       {"metadata", Json::object({{"name", name}, {"annotations", annotations}})},
                       {"spec", spec}});
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
