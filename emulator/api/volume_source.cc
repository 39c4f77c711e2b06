#include "emulator/api/volume_source.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/lifecycle.h"
#include "emulator/api/network_directory.h"
#include "emulator/api/quantity.h"
#include "emulator/api/storage_class.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

bool HasBacksteps(const std::string& path) {
  const auto parts = Split(path, '/');
  return std::ranges::find(parts, "..") != parts.end();
}

void CheckPath(const Json& object, const std::string& path, Messages& messages) {
  CheckRequired(object, "path", path, messages);
  if (const std::string value = Text(object, "path"); HasBacksteps(value))
    messages.push_back({path + ".path", "Invalid value: \"" + value + "\": must not contain '..'"});
}

void CheckOctal(const Json& options, const std::string& path, Messages& messages) {
  const std::string mode = Text(options, "mode");
  if (mode.find_first_not_of("01234567") != std::string::npos || mode.size() > 4)
    messages.push_back({path + ".mode", "Invalid value: \"" + mode + "\": must be octal, such as \"755\""});
}

// Options of NAS (server, path) or OSS (bucket, url), in a flexVolume or a CSI volume.
void CheckOptions(const Json& options, bool object_storage, const std::string& path, Messages& messages) {
  CheckRequired(options, object_storage ? "bucket" : "server", path, messages);
  if (object_storage) CheckRequired(options, "url", path, messages);
  for (const char* name : {"server", "bucket"})
    if (const std::string value = Text(options, name); value.find('/') != std::string::npos || value == "..")
      messages.push_back({path + "." + name, "Invalid value: \"" + value + "\": must be a plain name"});
  if (const std::string folder = Text(options, "path"); HasBacksteps(folder))
    messages.push_back({path + ".path", "Invalid value: \"" + folder + "\": must not contain '..'"});
  else if (!folder.empty() && folder.front() != '/')
    messages.push_back({path + ".path", "Invalid value: \"" + folder + "\": must be an absolute path"});
  if (!object_storage) CheckOctal(options, path, messages);
  CheckOneOf(options, "modeType", path, {"recursive", "non-recursive"}, messages);
}

void CheckFlex(const Json& flex, const std::string& path, Messages& messages) {
  CheckRequired(flex, "driver", path, messages);
  const std::string driver = Text(flex, "driver");
  if (driver.empty()) return;
  if (const std::string problem = FlexDriverProblem(driver); !problem.empty())
    return messages.push_back({path + ".driver", "Unsupported value: \"" + driver + "\": " + problem});
  CheckOptions(Member(flex, "options"), driver == "alicloud/oss", path + ".options", messages);
}

void CheckCsi(const Json& csi, const std::string& path, bool persistent, Messages& messages) {
  CheckRequired(csi, "driver", path, messages);
  const std::string driver = Text(csi, "driver");
  if (driver.empty()) return;
  if (const std::string problem = CsiDriverProblem(driver); !problem.empty())
    return messages.push_back({path + ".driver", "Unsupported value: \"" + driver + "\": " + problem});
  if (!persistent)
    return messages.push_back({path, "volume mode \"Ephemeral\" not supported by driver " + driver +
                                         " (only supports [\"Persistent\"]): use a PersistentVolume, or "
                                         "flexVolume"});
  CheckRequired(csi, "volumeHandle", path, messages);
  CheckOptions(Member(csi, "volumeAttributes"), driver == kOssDriver, path + ".volumeAttributes", messages);
}

void CheckEmptyDir(const Json& source, const std::string& path, Messages& messages) {
  CheckOneOf(source, "medium", path, {"", "Memory"}, messages);
  if (const auto limit = DecodeQuantity(Member(source, "sizeLimit")); limit && limit->milli < 0)
    messages.push_back({path + ".sizeLimit", "Forbidden: SizeLimit field must be a valid resource quantity"});
}

void WarnOfOss(const Json& source, const std::string& path, Messages& warnings) {
  for (const auto& [member, options] : {std::pair("flexVolume", "options"), {"csi", "volumeAttributes"}}) {
    for (const std::string& option : OssOptions(Text(Member(Member(source, member), options), "otherOpts"))) {
      if (OssOptionKind(option) != OssOption::kUnknown) continue;
      warnings.push_back(
          {path + "." + member + "." + options + ".otherOpts",
           "the ossfs option " + option + " is not honoured: a bucket is a folder of the host"});
    }
  }
}

void WarnOfMounts(const Json& container, const std::string& path, Messages& warnings) {
  for (size_t i = 0; const Json& mount : Items(container, "volumeMounts")) {
    const std::string at = path + ".volumeMounts[" + std::to_string(i++) + "]";
    if (const std::string propagation = Text(mount, "mountPropagation");
        propagation == "HostToContainer" || propagation == "Bidirectional")
      warnings.push_back({at + ".mountPropagation",
                          propagation + " is not honoured: mounts made after the start are not passed on"});
  }
}

}  // namespace

Messages CheckVolumeSource(const Json& source, const std::string& path, bool persistent) {
  Messages messages;
  if (const Json& flex = Member(source, "flexVolume"); flex.is_object())
    CheckFlex(flex, path + ".flexVolume", messages);
  if (const Json& csi = Member(source, "csi"); csi.is_object())
    CheckCsi(csi, path + ".csi", persistent, messages);
  if (const Json& nfs = Member(source, "nfs"); nfs.is_object()) {
    CheckRequired(nfs, "server", path + ".nfs", messages);
    CheckPath(nfs, path + ".nfs", messages);
    if (const std::string at = Text(nfs, "path"); !at.empty() && at.front() != '/')
      messages.push_back({path + ".nfs.path", "Invalid value: \"" + at + "\": must be an absolute path"});
  }
  if (const Json& host = Member(source, "hostPath"); host.is_object()) {
    CheckPath(host, path + ".hostPath", messages);
    CheckOneOf(
        host, "type", path + ".hostPath",
        {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"},
        messages);
  }
  if (const Json& local = Member(source, "local"); persistent && local.is_object())
    CheckPath(local, path + ".local", messages);
  if (const Json& scratch = Member(source, "emptyDir"); scratch.is_object())
    CheckEmptyDir(scratch, path + ".emptyDir", messages);
  return messages;
}

Messages CheckMountOptions(const Json& mount, const Json& container, const std::string& path) {
  Messages messages;
  const std::string expression = Text(mount, "subPathExpr");
  if (!expression.empty() && !Text(mount, "subPath").empty())
    messages.push_back({path + ".subPathExpr", "Invalid value: \"" + expression +
                                                   "\": subPathExpr and subPath are mutually exclusive"});
  if (!expression.empty() && expression.front() == '/')
    messages.push_back(
        {path + ".subPathExpr", "Invalid value: \"" + expression + "\": must be a relative path"});
  if (HasBacksteps(expression))
    messages.push_back(
        {path + ".subPathExpr", "Invalid value: \"" + expression + "\": must not contain '..'"});
  CheckOneOf(mount, "mountPropagation", path, {"Bidirectional", "HostToContainer", "None"}, messages);
  CheckOneOf(mount, "recursiveReadOnly", path, {"Disabled", "Enabled", "IfPossible"}, messages);
  const std::string recursive = Text(mount, "recursiveReadOnly"),
                    propagation = Text(mount, "mountPropagation");
  if (!recursive.empty() && recursive != "Disabled" && !Bool(mount, "readOnly"))
    messages.push_back(
        {path + ".recursiveReadOnly", "Forbidden: may only be specified when readOnly is true"});
  if (propagation == "Bidirectional" && !Bool(Member(container, "securityContext"), "privileged"))
    messages.push_back({path + ".mountPropagation",
                        "Forbidden: Bidirectional mount propagation is available only to privileged "
                        "containers"});
  return messages;
}

Messages VolumeWarnings(const Json& doc) {
  Messages warnings;
  const std::string kind = Text(doc, "kind");
  const Json& spec = Member(doc, "spec");
  if (kind == "StorageClass") return ClassWarnings(doc);
  if (kind == "PersistentVolume") {
    WarnOfOss(spec, "spec", warnings);
    if (Text(spec, "persistentVolumeReclaimPolicy") == "Recycle")
      warnings.push_back({"spec.persistentVolumeReclaimPolicy",
                          "Recycle is deprecated and does what Retain does: nothing is deleted"});
  }
  for (const PodSpecPlace& place : PodSpecs(doc)) {
    for (size_t i = 0; const Json& volume : Items(*place.spec, "volumes"))
      WarnOfOss(volume, place.path + ".volumes[" + std::to_string(i++) + "]", warnings);
    for (const char* list : {"initContainers", "containers"})
      for (size_t i = 0; const Json& container : Items(*place.spec, list))
        WarnOfMounts(container, place.path + "." + list + "[" + std::to_string(i++) + "]", warnings);
  }
  return warnings;
}

}  // namespace tfemu::api
