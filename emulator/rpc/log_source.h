// The log of one container, attempt after attempt, read in pieces.
#pragma once

#include <optional>
#include <string>

#include "emulator/base/unique_fd.h"
#include "emulator/rpc/log_joiner.h"

namespace tfemu::rpc {

struct LogFile {
  std::string state_folder, ns, pod, uid, container;
  int attempt = 0;
};

class LogSource {
 public:
  LogSource(LogFile file, const JoinOptions& options)
      : file_(std::move(file)), options_(options), joiner_(options) {}

  const LogFile& file() const { return file_; }
  // Opens the attempt's file when it is there; true when it is open.
  bool Open();
  // Lets reading begin at the last `lines` lines of what the open file holds now.
  void SkipToTail(int64_t lines);
  // Appends whole lines of the next piece; false at the end of what is written so far.
  bool Read(std::string& out);
  // The attempt is over and read to its end: appends its last, unfinished line.
  void Finish(std::string& out) { joiner_.End(out); }
  void NextAttempt();

  std::string path() const;
  int descriptor() const { return fd_.get(); }

 private:
  // Moves on to where the file's bytes begin again, when its older part was given up.
  void SkipHole(std::string& out);

  LogFile file_;
  JoinOptions options_;
  LogJoiner joiner_;
  UniqueFd fd_;
};

}  // namespace tfemu::rpc
