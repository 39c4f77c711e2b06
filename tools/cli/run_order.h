// The order in which `run` starts what it was given: an object with the annotation tfemu.dev/run-after waits
// until the objects it names have done their part.
#pragma once

#include <vector>

#include "tools/cli/manifests.h"

namespace tfemu::cli {

inline constexpr const char* kRunAfter = "tfemu.dev/run-after";  // "tfjob/train, job/validate"

// Stages, one after the other, each in the manifests' order. An error says which name is not among them, or
// which objects wait for each other.
Result<std::vector<std::vector<Manifest>>> InStages(const std::vector<Manifest>& manifests);

}  // namespace tfemu::cli
