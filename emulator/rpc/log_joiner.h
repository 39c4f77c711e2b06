// From the records of a log file to the bytes that the container wrote.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emulator/base/executor.h"

namespace tfemu::rpc {

struct JoinOptions {
  bool timestamps = false;            // each line begins with the time of its first piece
  std::optional<Instant> since = {};  // older records are left out
};

// Puts the pieces of long lines together again, each stream for itself, so that a line of one is never torn
// by the other's. Fed with any cut of the file.
class LogJoiner {
 public:
  explicit LogJoiner(const JoinOptions& options);

  // Appends to `out` the lines that became whole.
  void Feed(std::string_view bytes, std::string& out);
  // What follows does not adjoin what came before: `dropped` bytes of the file are gone, and the first record
  // is torn. Appends a line that says so.
  void Gap(uint64_t dropped, std::string& out);
  // At the end of the attempt: appends lines that never got their '\n', without one.
  void End(std::string& out);

 private:
  struct Pending {
    std::string bytes;
    bool open = false;
  };
  void Record(std::string_view record, std::string& out);

  bool timestamps_;
  std::string since_;  // as records write their time; they compare as texts
  std::string rest_;   // a record whose '\n' has not come yet
  bool torn_ = false;  // up to the next '\n'
  Pending pending_[2];
};

// Where the last `lines` lines of a file of records begin. A last line without its '\n' counts.
class TailFinder {
 public:
  explicit TailFinder(int64_t lines) : lines_(lines) {}
  // Fed with adjoining blocks from the file's end to its front; true when the place is found.
  bool FeedBackwards(std::string_view block, uint64_t block_offset);
  uint64_t offset() const { return offset_; }  // 0 until found: the whole file

 private:
  bool OnRecord(std::string_view header, uint64_t offset);

  int64_t lines_, seen_ = 0;
  uint64_t offset_ = 0, following_ = 0;
  std::string head_;  // how the record begins whose start lies in an earlier block
  bool at_end_ = true, last_record_ = true;
};

}  // namespace tfemu::rpc
