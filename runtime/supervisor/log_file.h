// One attempt's log file, and the pipes that fill it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "emulator/base/result.h"
#include "runtime/log_format.h"
#include "runtime/process/fd_watch.h"

namespace tfemu::supervisor {

// What one attempt may keep; a cluster keeps five files of 10 MiB.
inline constexpr int64_t kLogLimit = int64_t{1} << 30;

// What cannot be written is counted, reported once, and mentioned in the file when writing works again; a
// record is whole or absent. Past `limit` bytes the older half is given back to the disk, as a hole: whoever
// reads the file keeps its place.
class LogFile {
 public:
  using Report = std::function<void(std::string)>;
  LogFile(std::string path, const Executor& clock, Report report, int64_t limit = kLogLimit);

  // Empty when the file could not be made: then the container must not start.
  Result<void> Open();
  void Append(runtime::Stream stream, std::string_view bytes);

 private:
  void Write(const std::string& records, size_t payload);
  void GiveBack();

  std::string path_;
  const Executor& clock_;
  Report report_;
  UniqueFd fd_;
  int64_t limit_, size_ = 0, hole_ = 0;
  uint64_t lost_ = 0;
  bool reported_ = false, reported_hole_ = false;
};

// Reads what a container writes; a container that writes faster than the disk takes it has to wait.
class LogPump {
 public:
  explicit LogPump(LogFile file) : file_(std::move(file)) {}

  void Start(boost::asio::io_context& context, UniqueFd standard_output, UniqueFd standard_error);
  // Everything that was written so far is in the file afterwards, and the pipes are closed.
  void Finish();

 private:
  struct Source {
    process::FdWatch pipe;
    runtime::Stream stream;
  };
  void Watch(Source& source);
  bool ReadOnce(Source& source);  // false: nothing more now, or ever

  LogFile file_;
  Source sources_[2];
};

}  // namespace tfemu::supervisor
