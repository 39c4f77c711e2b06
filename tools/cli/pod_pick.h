// From what a user names (a pod, a workload, a service) to one running pod.
#pragma once

#include <optional>

#include "emulator/api/object.h"
#include "tools/cli/session.h"
#include "tools/cli/targets.h"

namespace tfemu::cli {

struct PickedPod {
  api::Object pod;
  std::optional<api::Object> service;  // when a service was named
};

// A named pod is taken as it is; of a workload's or a service's pods the first that runs.
Result<PickedPod> PickPod(rpc::Client& client, const Target& target, const std::string& ns);

}  // namespace tfemu::cli
