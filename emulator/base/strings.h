// The few string helpers the standard library lacks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfemu {

std::vector<std::string> Split(std::string_view text, char separator);  // "" gives one empty part
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view Trim(std::string_view text);            // ASCII blanks at both ends
std::string ToLower(std::string_view text);              // ASCII
std::optional<int64_t> ParseInt(std::string_view text);  // the whole text, decimal
// `*` and `?` as in a shell, the whole text; `*` crosses slashes.
bool GlobMatch(std::string_view pattern, std::string_view text);
// Number of edits between two words, for "did you mean".
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace tfemu
