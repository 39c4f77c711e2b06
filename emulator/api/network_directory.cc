#include "emulator/api/network_directory.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr std::array<std::string_view, 2> kFlexDrivers = {"alicloud/nas", "alicloud/oss"};
constexpr std::array<std::string_view, 2> kCsiDrivers = {kNasDriver, kOssDriver};
constexpr size_t kNear = 3;  // edits
// Speed, retries and logging of ossfs: they change nothing that a program could see in a folder.
constexpr std::array<std::string_view, 14> kTuning = {"max_stat_cache_size",
                                                      "stat_cache_expire",
                                                      "parallel_count",
                                                      "multireq_max",
                                                      "multipart_size",
                                                      "retries",
                                                      "dbglevel",
                                                      "curldbg",
                                                      "big_writes",
                                                      "connect_timeout",
                                                      "readwrite_timeout",
                                                      "max_dirty_data",
                                                      "noxattr",
                                                      "direct_read"};

unsigned Octal(const std::string& text) {
  return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 8));
}

std::string DriverProblem(const std::string& driver, std::span<const std::string_view> known,
                          const char* disk) {
  if (std::ranges::find(known, driver) != known.end()) return "";
  if (driver == disk)
    return "cloud disks are not provided: there are no block devices here; take NAS, or emptyDir for what "
           "need not last";
  std::string near;
  size_t nearest = kNear + 1;
  for (const std::string_view candidate : known) {
    const bool shares_head = driver.substr(0, driver.find('.')) == candidate.substr(0, candidate.find('.'));
    const size_t distance = shares_head ? 0 : EditDistance(driver, candidate);
    if (distance >= nearest) continue;
    nearest = distance;
    near = candidate;
  }
  std::string text = "this driver is not provided";
  if (!near.empty()) return text + "; did you mean \"" + near + "\"?";
  for (size_t i = 0; i < known.size(); ++i)
    text += (i ? "\", \"" : ": supported values: \"") + std::string(known[i]);
  return text + "\"";
}

NetworkDirectory FromNas(const Json& options, bool read_only) {
  NetworkDirectory directory{Text(options, "server"), Text(options, "path"), {}, read_only};
  if (directory.path.empty()) directory.path = "/";
  if (const std::string mode = Text(options, "mode"); !mode.empty()) directory.mode = Octal(mode);
  return directory;
}

NetworkDirectory FromOss(const Json& options, bool read_only) {
  NetworkDirectory directory{Text(options, "bucket"), Text(options, "path"), {}, read_only, true};
  if (directory.path.empty()) directory.path = "/";
  for (const std::string& option : OssOptions(Text(options, "otherOpts"))) {
    if (option == "ro") directory.read_only = true;
    if (option.starts_with("umask=")) directory.mode = 0777 & ~Octal(option.substr(6));
  }
  return directory;
}

}  // namespace

std::string FlexDriverProblem(const std::string& driver) {
  return DriverProblem(driver, kFlexDrivers, "alicloud/disk");
}

std::string CsiDriverProblem(const std::string& driver) {
  return DriverProblem(driver, kCsiDrivers, "diskplugin.csi.alibabacloud.com");
}

std::vector<std::string> OssOptions(const std::string& other_opts) {
  std::vector<std::string> options;
  for (const std::string& word : Split(other_opts, ' ')) {
    if (word.empty() || word == "-o") continue;
    for (auto& option : Split(word.starts_with("-o") ? word.substr(2) : word, ','))
      if (!option.empty()) options.push_back(std::move(option));
  }
  return options;
}

OssOption OssOptionKind(const std::string& option) {
  const std::string name = option.substr(0, option.find('='));
  if (name == "ro" || name == "rw" || name == "umask" || name == "allow_other") return OssOption::kHonoured;
  return std::ranges::find(kTuning, name) == kTuning.end() ? OssOption::kUnknown : OssOption::kTuning;
}

std::optional<NetworkDirectory> DecodeNetworkDirectory(const Json& source, std::string& problem) {
  if (const Json& nfs = Member(source, "nfs"); nfs.is_object())
    return NetworkDirectory{Text(nfs, "server"), Text(nfs, "path"), {}, Bool(nfs, "readOnly")};
  if (const Json& flex = Member(source, "flexVolume"); flex.is_object()) {
    const std::string driver = Text(flex, "driver");
    if (problem = FlexDriverProblem(driver); !problem.empty()) {
      problem = "flexVolume driver \"" + driver + "\": " + problem;
      return std::nullopt;
    }
    const Json& options = Member(flex, "options");
    return driver == "alicloud/oss" ? FromOss(options, Bool(flex, "readOnly"))
                                    : FromNas(options, Bool(flex, "readOnly"));
  }
  const Json& csi = Member(source, "csi");
  if (!csi.is_object()) return std::nullopt;
  const std::string driver = Text(csi, "driver");
  if (problem = CsiDriverProblem(driver); !problem.empty()) {
    problem = "driver name " + driver + " not found in the list of registered CSI drivers: " + problem;
    return std::nullopt;
  }
  const Json& attributes = Member(csi, "volumeAttributes");
  return driver == kOssDriver ? FromOss(attributes, Bool(csi, "readOnly"))
                              : FromNas(attributes, Bool(csi, "readOnly"));
}

}  // namespace tfemu::api
