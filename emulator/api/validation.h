// Checks that several kinds share, with the words of apimachinery's validation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/error.h"

namespace tfemu::api {

using Messages = std::vector<FieldMessage>;

// Empty when the name is fine, else what is wrong with it.
std::string NameProblem(std::string_view name);   // DNS-1123 subdomain, the rule for most objects
std::string LabelProblem(std::string_view name);  // DNS-1123 label
std::string Dns1035Problem(std::string_view name);

// metadata.name or generateName, namespace, label keys and values.
void CheckMeta(const nlohmann::json& doc, Messages& messages);
// `value` is one of `allowed`, or absent.
void CheckOneOf(const nlohmann::json& object, const char* member, const std::string& path,
                const std::vector<std::string_view>& allowed, Messages& messages);
void CheckNotNegative(const nlohmann::json& object, const char* member, const std::string& path,
                      Messages& messages);
void CheckRequired(const nlohmann::json& object, const char* member, const std::string& path,
                   Messages& messages);

}  // namespace tfemu::api
