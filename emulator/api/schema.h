// The fields of a kind: their types, and what becomes of each. One table serves validation, the warnings
// ("nothing is silently ignored") and the fidelity page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/error.h"

namespace tfemu::api {

enum class Fidelity {
  kHonoured,
  kApproximated,  // `note` says how; no warning
  kIgnored,       // `note` says what does not happen; a warning when a manifest sets it
  kRefused,       // `note` says why; an error when a manifest sets it
};

enum class Type { kString, kInteger, kNumber, kBoolean, kQuantity, kIntOrString, kTime, kObject, kAny };
enum class Shape { kOne, kList, kMap };

struct Schema;

struct Field {
  std::string_view name;
  Type type = Type::kString;
  Shape shape = Shape::kOne;
  const Schema* of = nullptr;  // the members, when type is kObject
  Fidelity fidelity = Fidelity::kHonoured;
  std::string_view note = "";

  constexpr Field List() const { return With(Shape::kList); }
  constexpr Field Map() const { return With(Shape::kMap); }
  constexpr Field Ignored(std::string_view why) const { return With(Fidelity::kIgnored, why); }
  constexpr Field Refused(std::string_view why) const { return With(Fidelity::kRefused, why); }
  constexpr Field Approximated(std::string_view how) const { return With(Fidelity::kApproximated, how); }

 private:
  constexpr Field With(Shape s) const {
    Field copy = *this;
    copy.shape = s;
    return copy;
  }
  constexpr Field With(Fidelity f, std::string_view n) const {
    Field copy = *this;
    copy.fidelity = f;
    copy.note = n;
    return copy;
  }
};

struct Schema {
  std::span<const Field> fields;
};

constexpr Field String(std::string_view name) { return {name, Type::kString}; }
constexpr Field Integer(std::string_view name) { return {name, Type::kInteger}; }
constexpr Field Boolean(std::string_view name) { return {name, Type::kBoolean}; }
constexpr Field Any(std::string_view name) { return {name, Type::kAny}; }
constexpr Field OneOf(std::string_view name, const Schema& of) {
  return {name, Type::kObject, Shape::kOne, &of};
}
constexpr Field ListOf(std::string_view name, const Schema& of) {
  return {name, Type::kObject, Shape::kList, &of};
}
constexpr Field MapOf(std::string_view name, const Schema& of) {
  return {name, Type::kObject, Shape::kMap, &of};
}

struct FieldFindings {
  std::vector<FieldMessage> errors;    // wrong types, and set fields that are refused
  std::vector<FieldMessage> warnings;  // unknown fields, and set fields that are not honoured
};

// Walks `doc` against `schema`. Members whose value is null or empty count as not set.
FieldFindings CheckFields(const nlohmann::json& doc, const Schema& schema);

}  // namespace tfemu::api
