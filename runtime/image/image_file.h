// Reads one image folder: its image.yaml, strictly, and the paths that it names.
#pragma once

#include <string>

#include "emulator/base/result.h"
#include "runtime/image.h"

namespace tfemu::image {

inline constexpr const char* kImageFile = "image.yaml";

// `folder` must be absolute. The python environment of the root is left empty: it is not of this folder. So
// is what an archive says, its layers and, unless image.yaml says it, the working directory. kInvalid names
// file and line; kNotFound when the folder has no image.yaml.
Result<runtime::Image> ReadImageFolder(const std::string& folder);

}  // namespace tfemu::image
