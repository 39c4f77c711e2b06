// One screen about a cluster.
#pragma once

#include <string>

#include "tools/cli/session.h"

namespace tfemu::cli {

Result<std::string> DescribeCluster(Session& session, rpc::Client& client);

}  // namespace tfemu::cli
