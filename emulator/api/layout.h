// What became of a document that was written in an older layout of its kind.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emulator/base/error.h"

namespace tfemu::api {

struct LayoutChange {
  std::vector<FieldMessage> errors, warnings;              // at the paths that the user wrote
  std::vector<std::pair<std::string, std::string>> moved;  // the path now, the path as written
};

// The path that the user wrote for what is at `path` now.
std::string PathAsWritten(const LayoutChange& change, const std::string& path);

}  // namespace tfemu::api
