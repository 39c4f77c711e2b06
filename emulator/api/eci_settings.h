// The `eci` section of cluster.yaml: what Elastic Container Instance is like for this cluster.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/eci_annotations.h"
#include "emulator/api/gpu.h"
#include "emulator/api/pod.h"

namespace tfemu::api {

struct EciSettings {
  std::string region = "cn-beijing";
  std::vector<std::string> zones;        // whole names; empty: the cluster has no ECI
  bool serverless = false;               // every pod goes there
  std::map<std::string, int> stock;      // instances of a type; a type that is not listed never runs out
  int vcpu_quota = 0, gpu_quota = 0;     // of the region; 0: none
  std::map<std::string, double> prices;  // CNY an hour, of types
  // A modelled start: nothing is waited for where both are 0.
  double sandbox_seconds = 0, megabytes_per_second = 0;
  std::vector<std::string> image_caches;  // patterns of references that eci-auto-imc finds

  bool enabled() const { return !zones.empty(); }
  friend bool operator==(const EciSettings&, const EciSettings&) = default;
};

// What `eci` may not be, each at its own path; nothing for a null.
std::vector<FieldMessage> CheckEciSettings(const nlohmann::json& eci, const std::string& path);
EciSettings DecodeEciSettings(const nlohmann::json& eci);

std::string EciNodeName(const std::string& zone);  // virtual-kubelet-cn-beijing-k
bool IsEciNode(const ObjectMeta& node);
inline constexpr const char* kEciTaint = "virtual-kubelet.io/provider";

// An instance that was made for a pod, as its annotations tell.
struct EciInstance {
  std::string id;
  EciSpec spec;
};
std::optional<EciInstance> EciInstanceOf(const ObjectMeta& pod);
// Its GPUs, virtual ones of the type's model; empty for a type without.
NodeGpus EciGpus(const EciInstance& instance, const ObjectMeta& pod);

// CNY an hour, as it was when the instance was made; written beside ECI's own annotations.
inline constexpr const char* kEciPriceAnnotation = "tfemu.dev/eci-hourly-cny";

}  // namespace tfemu::api
