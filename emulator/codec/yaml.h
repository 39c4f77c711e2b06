// YAML (and JSON) manifests to JSON documents that remember their lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/api/object.h"
#include "emulator/base/result.h"
#include "emulator/codec/line_tree.h"

namespace tfemu::codec {

struct Document {
  api::Json value;
  LineTree lines;  // lines.line is the document's first
};

// A larger file is refused before it is read.
inline constexpr size_t kMaxYamlBytes = 16u << 20;

// Every document of the stream but the empty ones; a `kind: List` is replaced by its items. Errors are
// kInvalid and read "file.yaml:12: what is wrong", with a remedy in the hint.
Result<std::vector<Document>> ParseYaml(std::string_view text, const std::string& file_name);
// As ParseYaml for a single document of any type (a configuration file, an image.yaml).
Result<Document> ParseYamlDocument(std::string_view text, const std::string& file_name);

}  // namespace tfemu::codec
