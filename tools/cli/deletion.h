// Deleting objects and waiting until they are gone.
#pragma once

#include <optional>
#include <vector>

#include "emulator/api/object.h"
#include "tfemu.pb.h"
#include "tools/cli/await.h"
#include "tools/cli/session.h"

namespace tfemu::cli {

struct DeletionOptions {
  std::optional<int64_t> grace_period_seconds = {};
  rpc::v1::DeleteRequest::Propagation propagation = rpc::v1::DeleteRequest::BACKGROUND;
  bool wait = true, ignore_missing = false;
  bool silent = false;  // prints no line for each
  std::optional<Duration> timeout = {};
};

// In the given order; an exit code.
int DeleteObjects(Session& session, const std::vector<api::ObjectKey>& keys, const DeletionOptions& options);

}  // namespace tfemu::cli
