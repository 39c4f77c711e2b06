// The PersistentVolume that a provisioner makes for a claim, as a document.
#include <nlohmann/json.hpp>

#include "emulator/api/network_directory.h"
#include "emulator/api/storage_class.h"
#include "emulator/api/volume.h"

namespace tfemu::api {
namespace {

std::string Get(const Labels& map, const std::string& name) {
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
  const Labels& parameters = request.storage_class.parameters;
  const auto [server, root] = SplitServer(Get(parameters, "server"));
  const bool shared = Get(parameters, "volumeAs") == "sharepath";
  Json attributes = Json::object({{"server", server},
                                  {"path", shared ? root : (root == "/" ? "" : root) + "/" + name},
                                  {"volumeAs", shared ? "sharepath" : "subpath"}});
  for (const char* passed : {"archiveOnDelete", "mode", "modeType", "volumeCapacity", "vers"})
    if (const std::string value = Get(parameters, passed); !value.empty()) attributes[passed] = value;
  spec["csi"] =
      Json::object({{"driver", kNasDriver}, {"volumeHandle", name}, {"volumeAttributes", attributes}});
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

}  // namespace

Json MakeProvisionedVolume(const ProvisionRequest& request) {
  const PersistentVolumeClaim& claim = request.claim;
  const std::string name = "pvc-" + claim.meta.uid;
  const Json reference = Json::object({{"apiVersion", "v1"},
                                       {"kind", "PersistentVolumeClaim"},
                                       {"name", claim.meta.name},
                                       {"namespace", claim.meta.ns},
                                       {"resourceVersion", std::to_string(claim.meta.resource_version)},
                                       {"uid", claim.meta.uid}});
  Json spec = Json::object({{"accessModes", claim.access_modes},
                            {"capacity", Json::object({{"storage", FormatQuantity(claim.request, true)}})},
                            {"claimRef", reference},
                            {"persistentVolumeReclaimPolicy", request.storage_class.reclaim_policy},
                            {"storageClassName", request.storage_class.name},
                            {"volumeMode", claim.volume_mode}});
  if (request.storage_class.provisioner == kNasDriver) AddNasSource(request, name, spec);
  else AddLocalSource(request, name, spec);
  if (!request.storage_class.mount_options.empty())
    spec["mountOptions"] = request.storage_class.mount_options;
  const Json annotations = Json::object({{kProvisionedBy, request.storage_class.provisioner}});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "PersistentVolume"},
                       {"metadata", Json::object({{"name", name}, {"annotations", annotations}})},
                       {"spec", spec}});
}

}  // namespace tfemu::api
