#include "emulator/rpc/log_joiner.h"

#include <utility>

#include "emulator/base/time_format.h"

namespace tfemu::rpc {
namespace {

// "2026-11-30T18:32:45.744221000Z stdout F " : the time has always nine digits, so every field has its place.
constexpr size_t kTimeSize = 30, kStreamAt = 31, kTagAt = 38, kHeaderSize = 40;
// A longer line is handed on in pieces rather than kept in memory.
constexpr size_t kMaxLine = 16u << 20;

bool IsRecord(std::string_view record) {
  return record.size() >= kHeaderSize && record[kTimeSize] == ' ' && record[kTagAt - 1] == ' ' &&
         record[kTagAt + 1] == ' ';
}

}  // namespace

LogJoiner::LogJoiner(const JoinOptions& options)
    : timestamps_(options.timestamps),
      since_(options.since ? FormatNanoTime(*options.since) : std::string()) {}

void LogJoiner::Feed(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      rest_ += bytes;
      return;
    }
    if (std::exchange(torn_, false)) {
      rest_.clear();
    } else if (rest_.empty()) {
      Record(bytes.substr(0, end), out);
    } else {
      rest_ += bytes.substr(0, end);
      Record(rest_, out);
      rest_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void LogJoiner::Record(std::string_view record, std::string& out) {
  if (!IsRecord(record)) return;
  if (!since_.empty() && record.substr(0, kTimeSize) < since_) return;
  Pending& pending = pending_[record.substr(kStreamAt, 6) == "stderr"];
  const bool partial = record[kTagAt] == 'P';
  const std::string_view time = record.substr(0, kTimeSize + 1), bytes = record.substr(kHeaderSize);
  if (!partial && !pending.open) {
    if (timestamps_) out += time;
    out += bytes;
    out += '\n';
    return;
  }
  if (!pending.open && timestamps_) pending.bytes = time;
  pending.open = true;
  pending.bytes += bytes;
  if (partial && pending.bytes.size() < kMaxLine) return;
  out += pending.bytes;
  pending.bytes.clear();
  if (partial) return;
  out += '\n';
  pending.open = false;
}

void LogJoiner::Gap(uint64_t dropped, std::string& out) {
  End(out);
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  out +=
      "tfemu: " + std::to_string(dropped) + " bytes of older output were given up here: a log has a limit\n";
  torn_ = true;
}

void LogJoiner::End(std::string& out) {
  for (Pending& pending : pending_) {
    out += pending.bytes;
    pending = {};
  }
  rest_.clear();
}

bool TailFinder::FeedBackwards(std::string_view block, uint64_t block_offset) {
  for (;;) {
    const size_t newline = block.rfind('\n');
    const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    std::string header(block.substr(begin, kHeaderSize));
    header += head_.substr(0, kHeaderSize - header.size());
    if (newline == std::string_view::npos) {
      head_ = std::move(header);
      return block_offset == 0 && !at_end_ && OnRecord(head_, 0);
    }
    head_.clear();
    // What follows the last '\n' is a record that is just being written.
    if (at_end_) following_ = block_offset + begin;
    else if (OnRecord(header, block_offset + begin)) return true;
    at_end_ = false;
    block = block.substr(0, newline);
  }
}

// The wanted lines begin after the record that ends the line before them.
bool TailFinder::OnRecord(std::string_view header, uint64_t offset) {
  const bool ends_line = last_record_ || (header.size() > kTagAt && header[kTagAt] == 'F');
  last_record_ = false;
  if (ends_line && seen_ == lines_) {
    offset_ = following_;
    return true;
  }
  seen_ += ends_line;
  following_ = offset;
  return false;
}

}  // namespace tfemu::rpc
