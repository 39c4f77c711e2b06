// The parsed form of a JSONPath template, shared by its parser and its evaluator.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/base/result.h"

namespace tfemu::codec {

struct JsonPathFilter;

struct JsonPathStep {
  enum class Type { kField, kWildcard, kSlice, kFilter, kUnion, kRecursive };
  Type type = Type::kField;
  std::vector<std::string> names = {};          // kField: one; kUnion: all
  std::optional<int64_t> begin = {}, end = {};  // kSlice
  int64_t stride = 1;
  bool single = false;                       // kSlice of exactly one index
  std::vector<JsonPathFilter> filters = {};  // kFilter: one
};

using JsonPathSteps = std::vector<JsonPathStep>;

// One side of a comparison: a path below the current item, or a constant.
struct JsonPathOperand {
  bool is_path = false;
  JsonPathSteps path = {};
  nlohmann::json constant = {};
};

struct JsonPathFilter {
  JsonPathOperand left = {}, right = {};
  std::string op = {};  // "" asks whether `left` exists
};

struct JsonPathPiece {
  enum class Type { kText, kPath, kRange };
  Type type = Type::kText;
  std::string text = {};
  JsonPathSteps steps = {};
  std::vector<JsonPathPiece> body = {};  // kRange
};

Result<std::vector<JsonPathPiece>> ParseJsonPathPieces(std::string_view text);

}  // namespace tfemu::codec
