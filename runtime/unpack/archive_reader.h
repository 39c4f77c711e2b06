// libarchive's reading side: tar entries of a stream, and a stream without its compression.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/unpack/byte_stream.h"

namespace tfemu::unpack {

// The formats are fixed: libarchive's others call programs of the host, or are no tar.
enum class Decoding {
  kTar,            // tar, not compressed
  kCompressedTar,  // tar under any number of gzip, bzip2, xz, lzma or zstd
  kRaw,            // what lies under the compression, whatever it is
};

class ArchiveReader {
 public:
  // `from` must outlive it.
  static Result<std::unique_ptr<ArchiveReader>> Open(ByteStream& from, Decoding decoding);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;

  // Null at the end. An error says after which entry, and at which byte.
  Result<archive_entry*> Next();
  // Data of the entry, holes as zeros; 0 at its end.
  Result<size_t> ReadData(char* buffer, size_t size);
  struct Block {
    const void* bytes = nullptr;  // null at the entry's end
    size_t size = 0;
    int64_t offset = 0;
  };
  // Data of the entry without its holes.
  Result<Block> ReadBlock();
  bool compressed() const;
  // What libarchive would not call an error, once each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  explicit ArchiveReader(ByteStream& from);
  Error Failed();
  static ssize_t OnRead(archive*, void* self, const void** buffer);
  static int64_t OnSkip(archive*, void* self, int64_t count);

  ByteStream& from_;
  archive* archive_;
  std::vector<char> buffer_;
  std::string last_;  // the entry that was read last
  std::optional<Error> read_error_;
  std::vector<std::string> warnings_;
};

// What `from` holds under its compression.
class FilterStream final : public ByteStream {
 public:
  static Result<std::unique_ptr<FilterStream>> Open(ByteStream& from);
  Result<size_t> Read(char* buffer, size_t size) override;

 private:
  std::unique_ptr<ArchiveReader> reader_;
  bool empty_ = false;
};

}  // namespace tfemu::unpack
