// What is wrong, or not quite honoured, in the source of a volume: of a pod or of a PersistentVolume.
#pragma once

#include "emulator/api/object.h"
#include "emulator/api/validation.h"

namespace tfemu::api {

// `source` has one of the members nfs, flexVolume, csi, hostPath, local, emptyDir, … ; `persistent` when it
// is the spec of a PersistentVolume.
Messages CheckVolumeSource(const Json& source, const std::string& path, bool persistent);

// One volumeMounts entry of a container.
Messages CheckMountOptions(const Json& mount, const Json& container, const std::string& path);

// Values (not fields: the schema knows those) of volumes, mounts and classes anywhere in the document that
// are not honoured.
Messages VolumeWarnings(const Json& doc);

}  // namespace tfemu::api
