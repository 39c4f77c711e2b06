// Setting a field of a TFJob by a path, with near matches for a path that leads nowhere.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/base/result.h"

namespace tfemu::cli {

// "spec.a[0].b" or "Worker.replicas", which stands for spec.tfReplicaSpecs.Worker.replicas. A part with dots
// is quoted: metadata.annotations."a.b/c". All but the last part must be there; the last one may be new
// unless a field beside it has nearly its name. A number, true and false are taken as such, everything else
// as text.
Result<void> SetPath(api::Json& job, const std::string& path, const std::string& value);

// For arg: and env: settings.
Result<api::Json*> ReplicaSpecs(api::Json& job, const std::string& key);
Error UnknownReplica(const api::Json& replicas, const std::string& key, const std::string& name);
api::Json* Find(api::Json& value, const std::vector<std::string>& parts);  // null when it is not there

}  // namespace tfemu::cli
