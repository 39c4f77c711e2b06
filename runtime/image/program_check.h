// Whether the kernel of this host could run a program of an image: what exec would say, before a pod says it.
#pragma once

#include <string>

#include "emulator/base/result.h"
#include "runtime/image.h"
#include "runtime/image/layered_view.h"

namespace tfemu::image {

// `program` is argv[0]; `path` the container's PATH.
Result<void> CheckProgram(const LayeredView& view, const std::string& program, const std::string& path);

struct Finding {
  bool error = false;  // else a warning
  std::string text;
};

// Everything that can be foreseen about an unpacked image.
std::vector<Finding> CheckImage(const runtime::Image& image);

}  // namespace tfemu::image
