// The algebra of a TFJob's conditions (training-operator v1.9.4 pkg/util/status.go;
// tfjob-controller.md 3.2, 3.3).
#pragma once

#include <string>

#include "emulator/api/tfjob.h"

namespace tfemu::controllers {

enum class JobConditionType { kCreated, kRunning, kRestarting, kSucceeded, kFailed, kSuspended };
std::string_view ToString(JobConditionType type);

// Sets `type` to `status` with the reason "TFJob" + `reason`. Failed is absorbing; a condition with the same
// status and reason is left as it is; a changed one moves to the end of the list.
void SetCondition(api::TFJobStatus& status, JobConditionType type, bool value, const std::string& reason,
                  const std::string& message, Instant now);

}  // namespace tfemu::controllers
