// Label selectors: metav1.LabelSelector in documents, and the text form of `-l`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/result.h"

namespace tfemu::api {

using Labels = std::map<std::string, std::string>;

struct Requirement {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// All requirements must hold; an empty selector matches everything.
struct Selector {
  std::vector<Requirement> requirements;

  bool empty() const { return requirements.empty(); }
  bool Matches(const Labels& labels) const;
  friend bool operator==(const Selector&, const Selector&) = default;
};

// "a=b,c!=d,e in (f,g),h,!i"
Result<Selector> ParseSelector(std::string_view text);
// {"matchLabels": {...}, "matchExpressions": [...]}; a plain map of labels is DecodeLabelMap's.
Selector DecodeSelector(const nlohmann::json& selector);
Selector SelectorOf(const Labels& labels);

}  // namespace tfemu::api
