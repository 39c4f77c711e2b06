// kubectl's JSONPath templates: text with {.fields}, {range}...{end} and filters.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/result.h"

namespace tfemu::codec {

struct JsonPathPiece;

class JsonPath {
 public:
  JsonPath(std::vector<JsonPathPiece> pieces);
  JsonPath(const JsonPath&);
  JsonPath(JsonPath&&) noexcept;
  ~JsonPath();

  // The text for `value`; what is not there prints nothing, several results are separated by blanks.
  std::string Format(const nlohmann::json& value) const;
  // The results of the first path of the template, for comparing them. They point into `value`.
  std::vector<const nlohmann::json*> Find(const nlohmann::json& value) const;

 private:
  std::vector<JsonPathPiece> pieces_;
};

// "{.items[*].metadata.name}"; also the relaxed forms ".metadata.name" and "metadata.name".
Result<JsonPath> ParseJsonPath(std::string_view text);
// How a result is printed: text bare, numbers in decimal, lists and mappings as JSON.
std::string FormatResult(const nlohmann::json& value);

}  // namespace tfemu::codec
