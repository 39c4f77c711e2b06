// A line that says how far something is.
#pragma once

#include <string>

namespace tfemu::cli {

// "[######......]  6/12  installing numpy"; without a total only the text.
std::string FormatProgress(int done, int total, const std::string& text);

}  // namespace tfemu::cli
