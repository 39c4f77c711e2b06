// Waiting until objects are as wanted, told by the cluster's watches.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/base/executor.h"
#include "tools/cli/session.h"

namespace tfemu::cli {

enum class Verdict { kPending, kMet, kHopeless };

struct Awaited {
  api::ObjectKey key;
  // Null when the object is not there (any more).
  std::function<Verdict(const api::Object*)> judge;
  std::function<void()> met = [] {};
};

// The verdict on each, in order, when all are settled or the time is up. Runs the session's loop.
Result<std::vector<Verdict>> Await(Session& session, const std::vector<Awaited>& awaited,
                                   std::optional<Duration> timeout);

// "30s" or a bare number of seconds; negative: for ever (nullopt in the result).
Result<std::optional<Duration>> ParseTimeout(const std::string& text);

}  // namespace tfemu::cli
