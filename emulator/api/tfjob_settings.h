// How the TFJob controller behaves: as training-operator v1.9's, or as an older version's (cluster.yaml,
// `tfjob`).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/error.h"

namespace tfemu::api {

enum class CleanPodPolicy { kNone, kRunning, kAll };

struct TFJobSettings {
  bool evaluator_in_cluster = true;    // TF_CONFIG lists the evaluators
  bool single_replica_config = false;  // a job of one replica gets a TF_CONFIG, too
  bool sparse_cluster = false;         // dynamic workers find their peers under "sparseCluster"
  CleanPodPolicy clean_pod_policy_default = CleanPodPolicy::kNone;
  bool clean_pod_policy_at_limits = false;  // backoffLimit and the deadline obey it; else all pods go
  bool retry_by_list = false;               // exit codes 130, 137, 138, 143; else all from 128 on
  bool strict_upstream_quirks = false;      // nothing is better than it is on the cluster (docs/tfjob.md)
  std::string custom_cluster_domain;        // appended to the names in TF_CONFIG, without a dot before it
  friend bool operator==(const TFJobSettings&, const TFJobSettings&) = default;
};

// `doc`: the value of `tfjob` in cluster.yaml, which stands at `path`.
std::vector<FieldMessage> CheckTFJobSettings(const nlohmann::json& doc, const std::string& path);
TFJobSettings DecodeTFJobSettings(const nlohmann::json& doc);
// The settings that are not the default ones, as they are written in cluster.yaml; "" when all are.
std::string TFJobSettingsText(const TFJobSettings& settings);

}  // namespace tfemu::api
