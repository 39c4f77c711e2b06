// What a plain (unquoted) YAML scalar means to Kubernetes' tools.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/result.h"

namespace tfemu::codec {

// As sigs.k8s.io/yaml reads it, which is YAML 1.1: yes, no, on, off, y and n are booleans, 0755 is octal,
// a date stays text. Infinity and NaN, which JSON lacks, are refused.
Result<nlohmann::json> ResolvePlainScalar(const std::string& text);
// True when `text` would not come back as the same text if it were written without quotes.
bool NeedsQuotes(const std::string& text);

// "2026-11-30..." is text here, but a date to other readers.
bool LooksLikeDate(const std::string& text);

}  // namespace tfemu::codec
