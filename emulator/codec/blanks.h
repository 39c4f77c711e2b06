// Characters that look like a blank and are none to YAML: what a page copied from the web brings along.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfemu::codec {

struct OddBlank {
  size_t at = 0;      // byte offset in the text
  std::string name;   // "non-breaking space (U+00A0)"
  std::string bytes;  // its UTF-8
};

// The character at the very beginning of `text`, if it is one.
std::optional<OddBlank> OddBlankAt(std::string_view text);
std::optional<OddBlank> FindOddBlank(std::string_view text);
// One that begins or ends `text`, or follows a ':' or '-': where a reader sees a blank that must be one.
std::optional<OddBlank> MisplacedOddBlank(std::string_view text);

}  // namespace tfemu::codec
