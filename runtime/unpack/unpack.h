// An image archive into the store of layers: read, checked, written, and only then given its name.
#pragma once

#include <functional>
#include <string>

#include "runtime/image/archive_record.h"
#include "runtime/unpack/unpack_limits.h"

namespace tfemu::unpack {

struct UnpackProgress {
  uint64_t done = 0, total = 0;  // bytes as packed
  int layer = 0, layers = 0;     // counted from 1
};

struct UnpackOptions {
  std::string source;         // absolute: a tar, plain or compressed, or the folder of an OCI layout
  std::string layers_folder;  // exists; nobody else unpacks into it meanwhile
  std::string select;
  Limits limits = {};
  bool confine = false;  // chroot into layers_folder, for good: for a process that does nothing else
  bool merge = false;    // as if the file system could not hold overlayfs' marks
  std::function<void(const UnpackProgress&)> progress = nullptr;
};

// Layers that are in the store already are not read again. After an error nothing new is in the store.
Result<image::ArchiveRecord> Unpack(const UnpackOptions& options);

}  // namespace tfemu::unpack
