#include "runtime/log_format.h"

#include "emulator/base/time_format.h"

namespace tfemu::runtime {

void AppendLogRecord(std::string& out, const LogRecord& record) {
  out += FormatNanoTime(record.at);
  out += record.stream == Stream::kStdout ? " stdout " : " stderr ";
  out += record.partial ? "P " : "F ";
  out += record.bytes;
  out += '\n';
}

bool ParseLogRecord(std::string_view line, LogRecord& record) {
  const size_t time_end = line.find(' ');
  if (time_end == std::string_view::npos) return false;
  const auto at = ParseTime(line.substr(0, time_end));
  const std::string_view rest = line.substr(time_end + 1);  // "stdout F bytes"
  if (!at || rest.size() < 9 || rest[6] != ' ' || rest[8] != ' ') return false;
  const std::string_view stream = rest.substr(0, 6);
  if (stream != "stdout" && stream != "stderr") return false;
  if (rest[7] != 'P' && rest[7] != 'F') return false;
  record = {*at, stream == "stdout" ? Stream::kStdout : Stream::kStderr, rest[7] == 'P', rest.substr(9)};
  return true;
}

std::string LogPath(const std::string& state_folder, const std::string& ns, const std::string& pod,
                    const std::string& uid, const std::string& container, int attempt) {
  return state_folder + "/logs/" + ns + "/" + pod + "/" + uid + "/" + container + "/" +
         std::to_string(attempt) + ".log";
}

}  // namespace tfemu::runtime
