// Image references, read as Docker reads them, and the patterns of an image.yaml that answer to them.
#pragma once

#include <optional>
#include <string>

#include "emulator/base/result.h"

namespace tfemu::image {

// "busybox" is docker.io/library/busybox, tag latest. A digest is accepted and plays no part in matching.
struct Reference {
  std::string repository;  // with its registry: "docker.io/library/busybox"
  std::string familiar;    // as people write it: "busybox"
  std::string tag = "latest";
};

Result<Reference> ParseReference(const std::string& text);

// How specific the match is (the pattern's literal characters), or nothing. A pattern without a tag takes any
// tag; it is compared with both ways to write the repository.
std::optional<size_t> MatchPattern(const std::string& pattern, const Reference& reference);

}  // namespace tfemu::image
