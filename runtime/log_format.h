// The files that hold what containers wrote: one file an attempt, in the CRI's line format.
//
//   2026-11-30T18:32:45.744221000Z stdout F a whole line, or the last piece of a long one
//   2026-11-30T18:32:45.744221000Z stdout P a piece of a line that goes on in the next record of this stream
//
// The bytes after the tag are the container's own, any bytes but '\n'. A last line without '\n' ends with P.
#pragma once

#include <string>
#include <string_view>

#include "emulator/base/executor.h"

namespace tfemu::runtime {

enum class Stream { kStdout, kStderr };

struct LogRecord {
  Instant at;
  Stream stream = Stream::kStdout;
  bool partial = false;
  std::string_view bytes;  // into the line that was parsed
};

// Appends one record with its '\n'.
void AppendLogRecord(std::string& out, const LogRecord& record);
// `line` without its '\n'. False when it is no record.
bool ParseLogRecord(std::string_view line, LogRecord& record);

// STATE/logs/NS/POD/UID/CONTAINER/ATTEMPT.log; kept after the pod is gone.
std::string LogPath(const std::string& state_folder, const std::string& ns, const std::string& pod,
                    const std::string& uid, const std::string& container, int attempt);

}  // namespace tfemu::runtime
