#include "emulator/codec/jsonpath_parse.h"

#include "emulator/base/strings.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;
using Step = JsonPathStep;

// Thrown inside this file only.
struct Malformed {
  std::string why;
};

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
  }
  return out;
}

// A cursor over one template.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<JsonPathPiece> Pieces(bool in_range) {
    std::vector<JsonPathPiece> pieces;
    while (!text_.empty()) {
      const size_t open = std::min(text_.find('{'), text_.size());
      if (open > 0) pieces.push_back({JsonPathPiece::Type::kText, std::string(text_.substr(0, open))});
      text_.remove_prefix(open);
      if (text_.empty()) break;
      const std::string_view inside = Trim(TakeBraces());
      if (inside == "end") {
        if (!in_range) throw Malformed{"{end} without {range}"};
        return pieces;
      }
      pieces.push_back(Piece(inside));
    }
    if (in_range) throw Malformed{"{range} without {end}"};
    return pieces;
  }

 private:
  // The text between the braces, quotes respected.
  std::string_view TakeBraces() {
    char quote = 0;
    for (size_t i = 1; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0) {
        if (c == '\\') ++i;
        else if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '}') {
        const std::string_view inside = text_.substr(1, i - 1);
        text_.remove_prefix(i + 1);
        return inside;
      }
    }
    throw Malformed{"a { is not closed"};
  }

  JsonPathPiece Piece(std::string_view inside);

  std::string_view text_;
};

size_t ClosingBracket(std::string_view text) {
  char quote = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      else if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      return i;
    }
  }
  throw Malformed{"a [ is not closed"};
}

JsonPathSteps ParseSteps(std::string_view text);

JsonPathOperand ParseOperand(std::string_view text) {
  text = Trim(text);
  if (text.empty()) throw Malformed{"a comparison lacks a side"};
  if (text.front() == '@' || text.front() == '$' || text.front() == '.')
    return {true, ParseSteps(text.front() == '.' ? text : text.substr(1)), {}};
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
    return {false, {}, json(Unescape(text.substr(1, text.size() - 2)))};
  json constant = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (constant.is_discarded())
    throw Malformed{"\"" + std::string(text) + "\" is neither a path nor a constant"};
  return {false, {}, std::move(constant)};
}

JsonPathFilter ParseFilter(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"})
      if (text.substr(i, op.size()) == op)
        return {ParseOperand(text.substr(0, i)), ParseOperand(text.substr(i + op.size())), std::string(op)};
  }
  return {ParseOperand(text), {}, {}};
}

std::optional<int64_t> OptionalIndex(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return std::nullopt;
  const auto value = ParseInt(text);
  if (!value) throw Malformed{"\"" + std::string(text) + "\" is no index"};
  return value;
}

Step ParseSlice(std::string_view inside) {
  Step step{Step::Type::kSlice};
  const auto parts = Split(inside, ':');
  if (parts.size() > 3) throw Malformed{"[" + std::string(inside) + "] is no slice"};
  step.begin = OptionalIndex(parts[0]);
  if (parts.size() == 1) {
    step.single = true;
    return step;
  }
  step.end = OptionalIndex(parts[1]);
  if (parts.size() == 3) step.stride = OptionalIndex(parts[2]).value_or(1);
  if (step.stride < 1) throw Malformed{"the stride of a slice must be positive"};
  return step;
}

Step ParseBracket(std::string_view inside) {
  inside = Trim(inside);
  if (inside == "*") return {Step::Type::kWildcard};
  if (inside.starts_with("?(") && inside.ends_with(")")) {
    Step step{Step::Type::kFilter};
    step.filters.push_back(ParseFilter(inside.substr(2, inside.size() - 3)));
    return step;
  }
  if (inside.starts_with('\'') || inside.starts_with('"')) {
    Step step{Step::Type::kField};
    for (const auto& part : Split(inside, ',')) {
      const std::string_view name = Trim(part);
      if (name.size() < 2 || name.front() != name.back())
        throw Malformed{"[" + std::string(inside) + "] is no name"};
      step.names.push_back(Unescape(name.substr(1, name.size() - 2)));
    }
    if (step.names.size() > 1) step.type = Step::Type::kUnion;
    return step;
  }
  return ParseSlice(inside);
}

// A bare name ends at an unescaped '.' or '['.
std::string TakeName(std::string_view& text) {
  std::string name;
  while (!text.empty() && text.front() != '.' && text.front() != '[') {
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    name += text.front();
    text.remove_prefix(1);
  }
  return name;
}

JsonPathSteps ParseSteps(std::string_view text) {
  JsonPathSteps steps;
  text = Trim(text);
  while (!text.empty()) {
    if (text.front() == '[') {
      const size_t close = ClosingBracket(text);
      steps.push_back(ParseBracket(text.substr(1, close - 1)));
      text.remove_prefix(close + 1);
      continue;
    }
    if (text.starts_with("..")) {
      steps.push_back({Step::Type::kRecursive});
      text.remove_prefix(2);
    } else if (text.front() == '.') {
      text.remove_prefix(1);
    }
    if (text.empty() || text.front() == '[') continue;
    std::string name = TakeName(text);
    if (name == "*") steps.push_back({Step::Type::kWildcard});
    else if (!name.empty()) steps.push_back({Step::Type::kField, {std::move(name)}});
  }
  return steps;
}

JsonPathPiece Parser::Piece(std::string_view inside) {
  if (inside.size() >= 2 && (inside.front() == '"' || inside.front() == '\'') &&
      inside.back() == inside.front())
    return {JsonPathPiece::Type::kText, Unescape(inside.substr(1, inside.size() - 2))};
  if (inside.starts_with("range ")) {
    JsonPathPiece range{JsonPathPiece::Type::kRange};
    range.steps = ParseSteps(inside.substr(6));
    range.body = Pieces(true);
    return range;
  }
  if (inside.starts_with('@') || inside.starts_with('$')) inside.remove_prefix(1);
  JsonPathPiece path{JsonPathPiece::Type::kPath};
  path.steps = ParseSteps(inside);
  return path;
}

}  // namespace

Result<std::vector<JsonPathPiece>> ParseJsonPathPieces(std::string_view text) {
  std::string braced(text);
  if (braced.find('{') == std::string::npos) braced = "{" + braced + "}";
  try {
    return Parser(braced).Pieces(false);
  } catch (const Malformed& problem) {
    return Error{Reason::kBadRequest,
                 "not a JSONPath template: \"" + std::string(text) + "\": " + problem.why,
                 "write it like {.items[*].metadata.name}"};
  }
}

}  // namespace tfemu::codec
