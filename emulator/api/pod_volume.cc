// The volumes of a pod, decoded.
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/network_directory.h"
#include "emulator/api/pod.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

VolumeItem DecodeItem(const Json& item) {
  VolumeItem decoded{Text(item, "key"), Text(item, "path"), Int(item, "mode"), {}};
  if (const Json& field = Member(item, "fieldRef"); field.is_object()) decoded.key = Text(field, "fieldPath");
  if (const Json& ref = Member(item, "resourceFieldRef"); ref.is_object()) {
    decoded.resource = {Text(ref, "containerName"), Text(ref, "resource"), {1000}};
    if (const auto divisor = DecodeQuantity(Member(ref, "divisor")); divisor && divisor->milli > 0)
      decoded.resource.divisor = *divisor;
  }
  return decoded;
}

FileSource DecodeFileSource(const Json& source, FileSource::Type type) {
  FileSource decoded{type, Text(source, "name"), Bool(source, "optional"), {}};
  if (decoded.name.empty()) decoded.name = Text(source, "secretName");
  for (const Json& item : Items(source, "items")) decoded.items.push_back(DecodeItem(item));
  if (type == FileSource::Type::kServiceAccountToken)
    decoded.items.push_back({"token", Text(source, "path"), {}, {}});
  return decoded;
}

constexpr std::pair<const char*, FileSource::Type> kFileSources[] = {
    {"configMap", FileSource::Type::kConfigMap},
    {"secret", FileSource::Type::kSecret},
    {"downwardAPI", FileSource::Type::kDownward},
    {"serviceAccountToken", FileSource::Type::kServiceAccountToken},
};

// True when the volume is made of files; adds them to `volume`.
bool AddFileSources(const Json& source, PodVolume& volume) {
  for (const auto& [member, type] : kFileSources) {
    const Json& files = Member(source, member);
    if (!files.is_object()) continue;
    volume.type = PodVolume::Type::kFiles;
    volume.default_mode = Int(files, "defaultMode").value_or(volume.default_mode);
    volume.sources.push_back(DecodeFileSource(files, type));
  }
  return volume.type == PodVolume::Type::kFiles;
}

void DecodeEmptyDir(const Json& source, PodVolume& volume) {
  volume.type = PodVolume::Type::kEmptyDir;
  volume.memory = Text(source, "medium") == "Memory";
  const Json& limit = Member(source, "sizeLimit");
  if (const auto quantity = DecodeQuantity(limit)) volume.size_limit = quantity->Units();
  volume.size_limit_text = limit.is_string() ? limit.get<std::string>() : limit.dump();
}

}  // namespace

PodVolume DecodePodVolume(const Json& source) {
  PodVolume volume;
  volume.name = Text(source, "name");
  if (const Json& claim = Member(source, "persistentVolumeClaim"); claim.is_object()) {
    volume.type = PodVolume::Type::kClaim;
    volume.claim_name = Text(claim, "claimName");
    volume.read_only = Bool(claim, "readOnly");
  } else if (const Json& host = Member(source, "hostPath"); host.is_object()) {
    volume.type = PodVolume::Type::kHostPath;
    volume.host_path = Text(host, "path");
    volume.host_path_type = Text(host, "type");
  } else if (Member(source, "emptyDir").is_object()) {
    DecodeEmptyDir(source["emptyDir"], volume);
  } else if (const Json& projected = Member(source, "projected"); projected.is_object()) {
    volume.type = PodVolume::Type::kFiles;
    volume.default_mode = Int(projected, "defaultMode").value_or(0644);
    for (const Json& part : Items(projected, "sources")) AddFileSources(part, volume);
  } else if (!AddFileSources(source, volume)) {
    if (auto network = DecodeNetworkDirectory(source, volume.unsupported)) {
      volume.type = PodVolume::Type::kNetwork;
      volume.network = *network;
    } else if (volume.unsupported.empty()) {
      for (const auto& [member, value] : source.items())
        if (member != "name") volume.unsupported = "volume type " + member + " is not provided";
    }
  }
  return volume;
}

}  // namespace tfemu::api
