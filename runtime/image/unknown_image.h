// What to say about an image reference that no folder answers to.
#pragma once

#include <string>
#include <vector>

#include "emulator/base/error.h"

namespace tfemu::image {

struct UnknownImage {
  std::string reference;
  std::vector<std::string> folders;        // that were searched, in order
  std::vector<std::string> known = {};     // patterns of the images in them
  std::vector<std::string> problems = {};  // image folders that could not be read
};

// kNotFound; the hint has an image.yaml to paste, and the known patterns that come near.
Error Describe(const UnknownImage& unknown);

}  // namespace tfemu::image
