// apps/v1 DaemonSet.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/api/pod.h"
#include "emulator/api/workload.h"

namespace tfemu::api {

struct DaemonSetStatus {
  int64_t observed_generation = 0;
  int desired = 0, current = 0, misscheduled = 0, ready = 0, updated = 0;
  friend bool operator==(const DaemonSetStatus&, const DaemonSetStatus&) = default;
};

struct DaemonSet {
  ObjectMeta meta = {};
  bool on_delete = false;
  IntOrPercent max_unavailable{1, false};  // maxSurge where that is set instead
  Object pod_template;
  Labels node_selector;                 // of the template
  std::vector<Toleration> tolerations;  // of the template, and those that every daemon has
  DaemonSetStatus status;
};

DaemonSet DecodeDaemonSet(const Object& object);
Json EncodeDaemonSetStatus(const DaemonSetStatus& status);
void SetDaemonSetDefaults(Json& set);
std::vector<FieldMessage> ValidateDaemonSet(const Json& set, const Json* previous);

Json MakeDaemonSetPod(const DaemonSet& set, const std::string& node);
// Where a pod of a DaemonSet is meant to be, placed or not.
std::string NodeOfDaemon(const Pod& pod);

}  // namespace tfemu::api
