#include "emulator/api/schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/quantity.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

using nlohmann::json;

std::string_view Expected(Type type) {
  switch (type) {
    case Type::kString: return "a string";
    case Type::kInteger: return "an integer";
    case Type::kNumber: return "a number";
    case Type::kBoolean: return "true or false";
    case Type::kQuantity: return "a quantity such as 500m, 4Gi or 16";
    case Type::kIntOrString: return "an integer or a string";
    case Type::kTime: return "a time such as 2026-11-30T18:32:45Z";
    case Type::kObject: return "a mapping";
    case Type::kAny: return "anything";
  }
  return "";
}

bool HasType(const json& value, Type type) {
  switch (type) {
    case Type::kString: return value.is_string();
    case Type::kInteger: return value.is_number_integer();
    case Type::kNumber: return value.is_number();
    case Type::kBoolean: return value.is_boolean();
    case Type::kQuantity: return DecodeQuantity(value).has_value();
    case Type::kIntOrString: return value.is_number_integer() || value.is_string();
    case Type::kTime: return value.is_string() && ParseTime(value.get_ref<const std::string&>()).has_value();
    case Type::kObject: return value.is_object();
    case Type::kAny: return true;
  }
  return false;
}

std::string Shown(const json& value) {
  if (value.is_object()) return "a mapping";
  if (value.is_array()) return "a list";
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool Unset(const json& value) {
  return value.is_null() || ((value.is_object() || value.is_array()) && value.empty());
}

class Walker {
 public:
  FieldFindings findings;

  void Object(const std::string& path, const json& object, const Schema& schema) {
    for (const auto& [name, value] : object.items()) {
      const std::string child = path.empty() ? name : path + "." + name;
      const auto field = std::ranges::find(schema.fields, std::string_view(name), &Field::name);
      if (field == schema.fields.end()) Unknown(child, name, schema);
      else if (!value.is_null()) Known(child, value, *field);
    }
  }

 private:
  void Unknown(const std::string& path, const std::string& name, const Schema& schema) {
    std::string message = "unknown field";
    for (const Field& field : schema.fields)
      if (EditDistance(ToLower(field.name), ToLower(name)) <= 2 && name.size() > 3)
        message += " (did you mean " + std::string(field.name) + "?)";
    findings.warnings.push_back({path, message});
  }

  void Known(const std::string& path, const json& value, const Field& field) {
    if (field.fidelity == Fidelity::kIgnored && !Unset(value))
      findings.warnings.push_back({path, "not honoured: " + std::string(field.note)});
    if (field.fidelity == Fidelity::kRefused && !value.is_null())
      return findings.errors.push_back({path, "not supported: " + std::string(field.note)});
    switch (field.shape) {
      case Shape::kOne: return One(path, value, field);
      case Shape::kList:
        if (!value.is_array()) return Wrong(path, "a list", value);
        for (size_t i = 0; i < value.size(); ++i) One(path + "[" + std::to_string(i) + "]", value[i], field);
        return;
      case Shape::kMap:
        if (!value.is_object()) return Wrong(path, "a mapping", value);
        for (const auto& [key, item] : value.items()) One(path + "." + key, item, field);
        return;
    }
  }

  void One(const std::string& path, const json& value, const Field& field) {
    if (!HasType(value, field.type)) return Wrong(path, Expected(field.type), value);
    if (field.type == Type::kObject && field.of != nullptr) Object(path, value, *field.of);
  }

  void Wrong(const std::string& path, std::string_view expected, const json& value) {
    findings.errors.push_back({path, "must be " + std::string(expected) + " (got " + Shown(value) + ")"});
  }
};

}  // namespace

FieldFindings CheckFields(const json& doc, const Schema& schema) {
  if (!doc.is_object()) return {{{"", "must be a mapping (got " + Shown(doc) + ")"}}, {}};
  Walker walker;
  walker.Object("", doc, schema);
  return std::move(walker.findings);
}

}  // namespace tfemu::api
