// Bytes from somewhere, read once from front to back: a file, a member of a tar, what a filter makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"

namespace tfemu::unpack {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // 0 at the end.
  virtual Result<size_t> Read(char* buffer, size_t size) = 0;
  // Skips up to `count` bytes, and says how many; 0 when only reading helps.
  virtual int64_t Skip(int64_t count) { return count * 0; }
};

// A regular file, without moving the descriptor's position.
class FileStream final : public ByteStream {
 public:
  // `fd` must outlive it.
  explicit FileStream(int fd);
  // Closes `fd` in the end.
  explicit FileStream(UniqueFd fd);
  Result<size_t> Read(char* buffer, size_t size) override;
  int64_t Skip(int64_t count) override;

 private:
  UniqueFd owned_;
  int fd_;
  int64_t at_ = 0, size_ = 0;
};

// Passes bytes on, and knows their number, their SHA-256 and the last 512 of them.
class HashingStream final : public ByteStream {
 public:
  // `on_read` is told the number so far, and may refuse to go on.
  using OnRead = std::function<Result<void>(uint64_t count)>;
  explicit HashingStream(ByteStream& from, OnRead on_read = nullptr, bool hash = true);
  ~HashingStream() override;
  Result<size_t> Read(char* buffer, size_t size) override;
  uint64_t count() const { return count_; }
  // Of everything read so far; to be called once. "" when it was not to hash.
  std::string Digest();
  // Whether it ends as a tar does, with a block of zeros.
  bool EndsWithZeros() const;

 private:
  struct State;
  ByteStream& from_;
  OnRead on_read_;
  bool hash_;
  std::unique_ptr<State> state_;
  uint64_t count_ = 0;
  std::string tail_;
};

// Reads to the end, for what the reading does.
Result<void> Drain(ByteStream& stream);
Result<std::string> ReadAll(ByteStream& stream, size_t most, const std::string& what);

}  // namespace tfemu::unpack
