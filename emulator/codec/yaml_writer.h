// JSON documents as the YAML that kubectl prints.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tfemu::codec {

// Keys in alphabetical order, two blanks of indentation, lists level with their key, texts of several lines
// as literal blocks. What ParseYaml reads back is equal.
std::string WriteYaml(const nlohmann::json& value);

}  // namespace tfemu::codec
