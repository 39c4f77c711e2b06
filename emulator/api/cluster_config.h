// cluster.yaml: apiVersion tfemu.dev/v1alpha1, kind Cluster. What a cluster is made of.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/eci_settings.h"
#include "emulator/api/node.h"
#include "emulator/api/tfjob_settings.h"

namespace tfemu::api {

// Some GPUs of a node: virtual ones of a model, or devices of the host.
struct GpuConfig {
  int count = 0;      // of `model`; without a model: of the host, or virtual ones when it has none
  std::string model;  // virtual ones of this model
  std::vector<std::string> uuids;  // of the host, or the beginning of a uuid
  bool all = false;                // every GPU of the host that no other node has
  std::vector<std::string> mig;    // profiles that each virtual GPU is split into
};

struct NodeConfig {
  std::string name;
  std::optional<Quantity> cpu, memory;  // unset: the host's
  std::vector<GpuConfig> gpus;
  GpuSharing gpu_sharing;
  std::string instance_type;
  Labels labels;
  std::vector<Taint> taints;
};

// A folder of the host that stands for network storage.
struct StorageConfig {
  std::string folder;
  int64_t quota_bytes = 0;  // 0: none
};

struct ClusterConfig {
  std::vector<NodeConfig> nodes;
  std::map<std::string, StorageConfig> nas, oss;  // by server, by bucket
  std::vector<std::string> image_folders;
  EciSettings eci;
  std::vector<GpuConfig> eci_gpus;  // devices behind ECI's instances; empty: virtual ones of the type's model
  int64_t time_scale = 1;           // waits that a cluster would make are divided by this
  TFJobSettings tfjob;
};

// Every unknown or wrong field is a FieldMessage of the error.
Result<ClusterConfig> DecodeClusterConfig(const Json& doc);

}  // namespace tfemu::api
