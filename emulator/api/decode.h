// Reading members of a document that may be absent or of another type: absent wins, validation reports the
// type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tfemu::api {

const nlohmann::json& Member(const nlohmann::json& object, std::string_view name);  // a null when absent
const nlohmann::json& Items(const nlohmann::json& object,
                            std::string_view name);  // an empty array when absent
std::string Text(const nlohmann::json& object, std::string_view name);
std::optional<int64_t> Int(const nlohmann::json& object, std::string_view name);
bool Bool(const nlohmann::json& object, std::string_view name, bool otherwise = false);
std::vector<std::string> Texts(const nlohmann::json& object, std::string_view name);
// Sets a member that is absent or null.
void SetDefault(nlohmann::json& object, std::string_view name, nlohmann::json value);

}  // namespace tfemu::api
