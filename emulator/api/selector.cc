#include "emulator/api/selector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

using Operator = Requirement::Operator;

// "a in (b,c)" keeps its commas: the text is cut at commas outside parentheses.
std::vector<std::string> Terms(std::string_view text) {
  std::vector<std::string> terms{""};
  bool inside = false;
  for (const char c : text) {
    inside = c == '(' || (inside && c != ')');
    if (c == ',' && !inside) terms.emplace_back();
    else terms.back() += c;
  }
  return terms;
}

std::optional<Requirement> ParseSetTerm(std::string_view term) {
  const size_t open = term.find('('), close = term.rfind(')');
  if (open == std::string_view::npos || close != term.size() - 1) return std::nullopt;
  const auto words = Split(Trim(term.substr(0, open)), ' ');
  if (words.size() < 2 || (words.back() != "in" && words.back() != "notin")) return std::nullopt;
  Requirement r{words.front(), words.back() == "in" ? Operator::kIn : Operator::kNotIn, {}};
  for (const auto& value : Split(term.substr(open + 1, close - open - 1), ','))
    r.values.emplace_back(Trim(value));
  return r;
}

std::optional<Requirement> ParseTerm(std::string_view term) {
  if (term.empty()) return std::nullopt;
  if (auto set = ParseSetTerm(term)) return set;
  if (const size_t at = term.find("!="); at != std::string_view::npos)
    return Requirement{
        std::string(Trim(term.substr(0, at))), Operator::kNotIn, {std::string(Trim(term.substr(at + 2)))}};
  if (const size_t at = term.find('='); at != std::string_view::npos) {
    const size_t value = at + (term.substr(at, 2) == "==" ? 2 : 1);
    return Requirement{
        std::string(Trim(term.substr(0, at))), Operator::kIn, {std::string(Trim(term.substr(value)))}};
  }
  if (term.find_first_of(" ()") != std::string_view::npos) return std::nullopt;
  if (term.front() == '!') return Requirement{std::string(Trim(term.substr(1))), Operator::kDoesNotExist, {}};
  return Requirement{std::string(term), Operator::kExists, {}};
}

bool Holds(const Requirement& r, const Labels& labels) {
  const auto label = labels.find(r.key);
  const bool present = label != labels.end();
  const bool listed = present && std::ranges::find(r.values, label->second) != r.values.end();
  switch (r.op) {
    case Operator::kIn: return listed;
    case Operator::kNotIn: return !listed;
    case Operator::kExists: return present;
    case Operator::kDoesNotExist: return !present;
  }
  return false;
}

Operator DecodeOperator(const std::string& text) {
  if (text == "NotIn") return Operator::kNotIn;
  if (text == "Exists") return Operator::kExists;
  if (text == "DoesNotExist") return Operator::kDoesNotExist;
  return Operator::kIn;
}

}  // namespace

bool Selector::Matches(const Labels& labels) const {
  return std::ranges::all_of(requirements, [&](const Requirement& r) { return Holds(r, labels); });
}

Result<Selector> ParseSelector(std::string_view text) {
  Selector selector;
  if (Trim(text).empty()) return selector;
  for (const auto& term : Terms(text)) {
    auto requirement = ParseTerm(Trim(term));
    if (!requirement || requirement->key.empty())
      return Error{Reason::kBadRequest, "not a label selector: \"" + std::string(text) + "\"",
                   "write it like app=tensorboard,tier!=test,zone in (a,b)"};
    selector.requirements.push_back(std::move(*requirement));
  }
  return selector;
}

Selector SelectorOf(const Labels& labels) {
  Selector selector;
  for (const auto& [key, value] : labels) selector.requirements.push_back({key, Operator::kIn, {value}});
  return selector;
}

Selector DecodeSelector(const nlohmann::json& selector) {
  Selector decoded;
  if (!selector.is_object()) return decoded;
  if (const auto labels = selector.find("matchLabels"); labels != selector.end() && labels->is_object())
    for (const auto& [key, value] : labels->items())
      decoded.requirements.push_back(
          {key, Operator::kIn, {value.is_string() ? value.get<std::string>() : value.dump()}});
  if (const auto terms = selector.find("matchExpressions"); terms != selector.end() && terms->is_array())
    for (const auto& term : *terms)
      decoded.requirements.push_back({term.value("key", std::string()),
                                      DecodeOperator(term.value("operator", std::string("In"))),
                                      term.value("values", std::vector<std::string>())});
  return decoded;
}

}  // namespace tfemu::api
