// What a user is told of a TFJob that the operator takes and then never gets to run.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/error.h"

namespace tfemu::api {

// Each at its path. The recordings of the real operator on such jobs: tests/golden/oracle/invalid.
std::vector<FieldMessage> TFJobWarnings(const nlohmann::json& job);

}  // namespace tfemu::api
