#include "emulator/codec/jsonpath.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/codec/jsonpath_parse.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;
using Found = std::vector<const json*>;
using Step = JsonPathStep;

Found Walk(const JsonPathSteps& steps, const json& from);

const json* OperandValue(const JsonPathOperand& operand, const json& item) {
  if (!operand.is_path) return &operand.constant;
  const Found found = Walk(operand.path, item);
  return found.empty() ? nullptr : found.front();
}

bool Holds(const JsonPathFilter& filter, const json& item) {
  const json* left = OperandValue(filter.left, item);
  if (filter.op.empty()) return left != nullptr;
  const json* right = OperandValue(filter.right, item);
  if (left == nullptr || right == nullptr) return false;
  if (filter.op == "==") return *left == *right;
  if (filter.op == "!=") return *left != *right;
  if (filter.op == "<") return *left < *right;
  if (filter.op == ">") return *right < *left;
  if (filter.op == "<=") return !(*right < *left);
  return !(*left < *right);
}

void Fields(const Step& step, const json& value, Found& out) {
  if (!value.is_object()) return;
  for (const auto& name : step.names)
    if (const auto found = value.find(name); found != value.end()) out.push_back(&*found);
}

void Slice(const Step& step, const json& value, Found& out) {
  if (!value.is_array()) return;
  const auto size = static_cast<int64_t>(value.size());
  const auto absolute = [size](int64_t index) { return index < 0 ? index + size : index; };
  const int64_t begin = absolute(step.begin.value_or(0));
  if (step.single) {
    if (begin >= 0 && begin < size) out.push_back(&value[static_cast<size_t>(begin)]);
    return;
  }
  const int64_t end = std::min(step.end ? absolute(*step.end) : size, size);
  for (int64_t i = std::max<int64_t>(begin, 0); i < end; i += step.stride)
    out.push_back(&value[static_cast<size_t>(i)]);
}

void Descend(const json& value, Found& out) {
  out.push_back(&value);
  if (value.is_structured())
    for (const auto& child : value) Descend(child, out);
}

void Apply(const Step& step, const json& value, Found& out) {
  switch (step.type) {
    case Step::Type::kField:
    case Step::Type::kUnion: Fields(step, value, out); break;
    case Step::Type::kSlice: Slice(step, value, out); break;
    case Step::Type::kRecursive: Descend(value, out); break;
    case Step::Type::kWildcard:
      if (value.is_structured())
        for (const auto& child : value) out.push_back(&child);
      break;
    case Step::Type::kFilter:
      if (value.is_structured())
        for (const auto& child : value)
          if (Holds(step.filters.front(), child)) out.push_back(&child);
      break;
  }
}

Found Walk(const JsonPathSteps& steps, const json& from) {
  Found current{&from};
  for (const auto& step : steps) {
    Found next;
    for (const json* value : current) Apply(step, *value, next);
    current = std::move(next);
  }
  return current;
}

std::string FormatPieces(const std::vector<JsonPathPiece>& pieces, const json& value) {
  std::string out;
  for (const auto& piece : pieces) {
    if (piece.type == JsonPathPiece::Type::kText) {
      out += piece.text;
      continue;
    }
    const Found found = Walk(piece.steps, value);
    if (piece.type == JsonPathPiece::Type::kRange) {
      for (const json* item : found) out += FormatPieces(piece.body, *item);
      continue;
    }
    for (size_t i = 0; i < found.size(); ++i) out += (i > 0 ? " " : "") + FormatResult(*found[i]);
  }
  return out;
}

}  // namespace

JsonPath::JsonPath(std::vector<JsonPathPiece> pieces) : pieces_(std::move(pieces)) {}
JsonPath::JsonPath(const JsonPath&) = default;
JsonPath::JsonPath(JsonPath&&) noexcept = default;
JsonPath::~JsonPath() = default;

std::string JsonPath::Format(const json& value) const { return FormatPieces(pieces_, value); }

std::vector<const json*> JsonPath::Find(const json& value) const {
  for (const auto& piece : pieces_)
    if (piece.type == JsonPathPiece::Type::kPath) return Walk(piece.steps, value);
  return {};
}

Result<JsonPath> ParseJsonPath(std::string_view text) {
  ASSIGN_OR_RETURN(auto pieces, ParseJsonPathPieces(text));
  return JsonPath(std::move(pieces));
}

std::string FormatResult(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "<nil>";
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tfemu::codec
