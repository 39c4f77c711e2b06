// Network storage in its several spellings: nfs, and flexVolume alicloud/nas.
#pragma once

#include <optional>
#include <string>

#include "emulator/api/pod.h"

namespace tfemu::api {

// From the member `nfs` or `flexVolume` of a volume or PersistentVolume; nullopt when it has neither, an
// error text in `problem` when the driver is not one that is provided.
std::optional<NetworkDirectory> DecodeNetworkDirectory(const Json& source, std::string& problem);

}  // namespace tfemu::api
