// Values a container takes from around it: environment variables, and the files of configMap, secret and
// downward API volumes. Pure: everything looked up comes through `Lookup`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/gpu.h"
#include "emulator/api/pod.h"
#include "runtime/runtime.h"

namespace tfemu::manager {

using Data = std::map<std::string, std::string>;

// Data of a ConfigMap or Secret of the pod's namespace; nullopt when there is none of that name.
struct Lookup {
  std::function<std::optional<Data>(const std::string&name)> config_map, secret;
};

struct DownwardContext {
  const api::Pod& pod;
  std::string pod_ip, host_ip;
  api::Resources node_allocatable;  // the limit of a container that has none
  api::NodeGpus node_gpus = {};
};

// "metadata.labels['app']", "spec.nodeName", "status.podIP", …; nullopt when the path is not one of the
// downward API.
std::optional<std::string> FieldValue(const DownwardContext& context, const std::string& path);
std::optional<std::string> ResourceValue(const DownwardContext& context, const api::ResourceFieldRef& ref,
                                         const std::string& container);

// "NAME=value" in order: the image's, envFrom, env; $(VAR) expanded with what came before, $$ is a dollar.
// An error says which ConfigMap, Secret or key is missing.
Result<std::vector<std::string>> Environment(const DownwardContext& context, const api::Container& container,
                                             const Data& image_env, const Lookup& lookup);
// $(VAR) in a subPathExpr, where a variable that is not there is an error.
Result<std::string> ExpandSubPath(const std::string& text, const Data& variables);
// $(VAR) in a command or argument.
std::string Expand(const std::string& text, const Data& variables);

Result<std::vector<runtime::File>> VolumeFiles(const DownwardContext& context, const api::PodVolume& volume,
                                               const Lookup& lookup);

}  // namespace tfemu::manager
