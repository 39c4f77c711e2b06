// Reading objects from the cluster.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/base/result.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {
class Client;
}

namespace tfemu::cli {

struct Objects {
  std::vector<api::Object> objects;
  uint64_t revision = 0;
};

struct ObjectQuery {
  std::string kind, ns, selector;
};

Result<api::Object> GetObject(rpc::Client& client, const api::ObjectKey& key);
Result<Objects> ListObjects(rpc::Client& client, const ObjectQuery& query);
// The object of a message of the daemon.
Result<api::Object> Decode(const std::string& json);
rpc::v1::Key ToMessage(const api::ObjectKey& key);

}  // namespace tfemu::cli
