// The grammar of `wait --for`.
#pragma once

#include <functional>
#include <string>

#include "emulator/base/result.h"
#include "tools/cli/await.h"

namespace tfemu::cli {

// "condition=X[=V]" (in any case), "delete", "create", "jsonpath=PATH[=VALUE]".
Result<std::function<Verdict(const api::Object*)>> ParseWaitFor(const std::string& wanted);

}  // namespace tfemu::cli
