// The running pod that an exec or a port-forward goes to.
#pragma once

#include <string>

#include "emulator/api/view.h"
#include "emulator/manager/registry.h"

namespace tfemu::rpc {

// kNotFound, or kBadRequest when the pod does not run.
Result<api::PodView> RunningPod(const manager::Registry& registry, const api::ObjectKey& key);
// `container` "" means the pod's default one; kBadRequest when it does not run.
Result<std::string> RunningContainer(const api::PodView& pod, const std::string& container);

}  // namespace tfemu::rpc
