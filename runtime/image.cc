#include "runtime/image.h"

#include "emulator/base/check.h"

namespace tfemu::runtime {

const char* ToString(RootKind kind) {
  switch (kind) {
    case RootKind::kHost: return "host";
    case RootKind::kFolder: return "folder";
    case RootKind::kTar: return "tar";
    case RootKind::kDockerArchive: return "docker-archive";
    case RootKind::kOciLayout: return "oci";
  }
  CHECK_THAT(false);
  return "";
}

}  // namespace tfemu::runtime
