#include "tools/cli/progress.h"

#include <algorithm>

namespace tfemu::cli {

std::string FormatProgress(int done, int total, const std::string& text) {
  if (total <= 0) return text;
  constexpr int kWidth = 24;
  const int filled = std::clamp(kWidth * done / total, 0, kWidth);
  return "[" + std::string(static_cast<size_t>(filled), '#') +
         std::string(static_cast<size_t>(kWidth - filled), '.') + "] " + std::to_string(done) + "/" +
         std::to_string(total) + " " + text;
}

}  // namespace tfemu::cli
