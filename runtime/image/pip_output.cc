// pip's lines have been stable for years; what is not recognised only makes the progress less exact.
#include "runtime/image/pip_output.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::image {
namespace {

constexpr size_t kKeptLines = 40;

struct Remedy {
  const char* symptom;
  const char* hint;
};

constexpr Remedy kRemedies[] = {
    {"No space left on device", "free some space, or set TFEMU_HOME to a folder on a larger disk"},
    {"ensurepip is not available", "apt-get install python3-venv"},
    {"No module named venv", "apt-get install python3-venv"},
    {"Permission denied", "give the user who runs tfemu the right to write there"},
    {"Failed to establish a new connection",
     "no way to the package index: check the network, or set PIP_INDEX_URL "
     "(an index you reach) or PIP_FIND_LINKS (a folder of wheels)"},
    {"Read timed out", "the package index did not answer in time: try again"},
    {"THESE PACKAGES DO NOT MATCH THE HASHES", "the file names hashes of other builds: renew them"},
    {"Could not find a version", "the index has no such version for this Python: correct it"},
    {"No matching distribution", "the index has no such package for this Python: correct the name"},
    {"Invalid requirement", "correct that line"},
    {"conflicting dependencies", "two pinned versions do not go together: change one"},
};

}  // namespace

void PipOutput::AddLine(const std::string& line) {
  if (line.empty()) return;
  last_lines_.push_back(line);
  if (last_lines_.size() > kKeptLines) last_lines_.pop_front();
  if (first_error_.empty() && line.starts_with("ERROR: ")) first_error_ = line.substr(7);
  for (const char* word : {"Collecting ", "Processing ", "Requirement already satisfied: "}) {
    if (!line.starts_with(word)) continue;
    const std::string rest = line.substr(std::string_view(word).size());
    doing_ = "fetching " + rest.substr(0, rest.find_first_of(" =<>~!;["));
    packages_ = std::max(packages_, ++collected_);
  }
  if (line.starts_with("Installing collected packages")) {
    installing_ = true;
    doing_ = "installing";
  }
}

Error PipOutput::Failure(int exit_code) const {
  Error error{.reason = Reason::kInvalid, .message = first_error_};
  if (error.message.empty() && !last_lines_.empty()) error.message = last_lines_.back();
  error.message = "cannot install " + requirements_ + ": " +
                  (error.message.empty() ? "pip ended with " + std::to_string(exit_code) : error.message);
  if (exit_code > 128) error.message += " (killed by signal " + std::to_string(exit_code - 128) + ")";
  for (const Remedy& remedy : kRemedies) {
    const auto tells = [&](const std::string& line) { return line.find(remedy.symptom) != line.npos; };
    if (!std::any_of(last_lines_.begin(), last_lines_.end(), tells)) continue;
    error.hint = remedy.hint;
    break;
  }
  return error;
}

int CountRequirements(const std::string& text) {
  int count = 0;
  for (const std::string& line : Split(text, '\n')) {
    const std::string_view trimmed = Trim(line);
    count += !trimmed.empty() && trimmed[0] != '#' && trimmed[0] != '-';
  }
  return count;
}

}  // namespace tfemu::image
