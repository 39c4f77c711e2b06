// cluster.yaml: apiVersion tfemu.dev/v1alpha1, kind Cluster. What a cluster is made of.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/node.h"

namespace tfemu::api {

struct NodeConfig {
  std::string name;
  std::optional<Quantity> cpu, memory;  // unset: the host's
  int gpus = 0;
  std::string gpu_model, instance_type;
  Labels labels;
  std::vector<Taint> taints;
};

struct ClusterConfig {
  std::vector<NodeConfig> nodes;
  std::map<std::string, std::string> nas;  // server -> folder of the host
  std::vector<std::string> image_folders;
  int64_t time_scale = 1;  // waits that a cluster would make are divided by this
};

// Every unknown or wrong field is a FieldMessage of the error.
Result<ClusterConfig> DecodeClusterConfig(const Json& doc);

}  // namespace tfemu::api
