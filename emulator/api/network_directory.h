// Network storage in its several spellings: nfs, flexVolume alicloud/nas and alicloud/oss, and the CSI
// drivers of NAS and OSS.
#pragma once

#include <optional>
#include <string>

#include "emulator/api/pod.h"

namespace tfemu::api {

inline constexpr const char* kNasDriver = "nasplugin.csi.alibabacloud.com";
inline constexpr const char* kOssDriver = "ossplugin.csi.alibabacloud.com";

// From the member `nfs`, `flexVolume` or `csi` of a volume or PersistentVolume; nullopt when it has none of
// them, an error text in `problem` when the driver is not one that is provided.
std::optional<NetworkDirectory> DecodeNetworkDirectory(const Json& source, std::string& problem);

// Why a driver can't be had, with the near matches; "" when it can.
std::string FlexDriverProblem(const std::string& driver);
std::string CsiDriverProblem(const std::string& driver);

// One option of ossfs ("umask=022", "ro"): what becomes of it here.
enum class OssOption { kHonoured, kTuning, kUnknown };
OssOption OssOptionKind(const std::string& option);
// The options in otherOpts: "-o a -o b=c,d" is a, b=c and d.
std::vector<std::string> OssOptions(const std::string& other_opts);

}  // namespace tfemu::api
