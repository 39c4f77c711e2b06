#include "runtime/unpack/archive_reader.h"

#include <errno.h>

#include <algorithm>

namespace tfemu::unpack {
namespace {

constexpr size_t kBufferSize = 256 << 10;
constexpr size_t kMaxWarnings = 20;

void Support(archive* reader, Decoding decoding) {
  if (decoding != Decoding::kTar) {
    archive_read_support_filter_gzip(reader);
    archive_read_support_filter_bzip2(reader);
    archive_read_support_filter_xz(reader);
    archive_read_support_filter_lzma(reader);
    archive_read_support_filter_zstd(reader);
  }
  archive_read_support_format_empty(reader);
  if (decoding == Decoding::kRaw) archive_read_support_format_raw(reader);
  else archive_read_support_format_tar(reader);
}

}  // namespace

ArchiveReader::ArchiveReader(ByteStream& from)
    : from_(from), archive_(archive_read_new()), buffer_(kBufferSize) {}

ArchiveReader::~ArchiveReader() { archive_read_free(archive_); }

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::Open(ByteStream& from, Decoding decoding) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader(from));
  CHECK_THAT(reader->archive_);
  Support(reader->archive_, decoding);
  archive_read_set_read_callback(reader->archive_, OnRead);
  archive_read_set_skip_callback(reader->archive_, OnSkip);
  archive_read_set_callback_data(reader->archive_, reader.get());
  if (archive_read_open1(reader->archive_) < ARCHIVE_WARN) return reader->Failed();
  return reader;
}

ssize_t ArchiveReader::OnRead(archive* reader, void* self, const void** buffer) {
  auto& me = *static_cast<ArchiveReader*>(self);
  auto got = me.from_.Read(me.buffer_.data(), me.buffer_.size());
  if (!got.ok()) {
    me.read_error_ = got.error();
    archive_set_error(reader, EIO, "%s", got.error().message.c_str());
    return ARCHIVE_FATAL;
  }
  *buffer = me.buffer_.data();
  return static_cast<ssize_t>(got.value());
}

int64_t ArchiveReader::OnSkip(archive*, void* self, int64_t count) {
  return static_cast<ArchiveReader*>(self)->from_.Skip(count);
}

// What went wrong below keeps its own words and reason.
Error ArchiveReader::Failed() {
  if (read_error_) return *read_error_;
  const char* text = archive_error_string(archive_);
  std::string message = text ? text : "unreadable";
  message += last_.empty() ? ", before its first entry" : ", after the entry \"" + last_ + "\"";
  message += ", at byte " + std::to_string(archive_filter_bytes(archive_, 0));
  return {.reason = Reason::kInvalid,
          .message = message,
          .hint = "the file is damaged or was not copied to its end"};
}

Result<archive_entry*> ArchiveReader::Next() {
  archive_entry* entry = nullptr;
  int result = ARCHIVE_OK;
  do result = archive_read_next_header(archive_, &entry);
  while (result == ARCHIVE_RETRY);
  if (result == ARCHIVE_EOF) return nullptr;
  if (result < ARCHIVE_WARN) return Failed();
  const char* name = archive_entry_pathname(entry);
  if (!name) return Error{Reason::kInvalid, "an entry after \"" + last_ + "\" has no readable name"};
  last_ = name;
  if (result == ARCHIVE_WARN && warnings_.size() < kMaxWarnings) {
    const char* text = archive_error_string(archive_);
    warnings_.push_back(last_ + ": " + (text ? text : "odd header"));
  }
  return entry;
}

Result<size_t> ArchiveReader::ReadData(char* buffer, size_t size) {
  const la_ssize_t got = archive_read_data(archive_, buffer, size);
  if (got < 0) return Failed();
  return static_cast<size_t>(got);
}

Result<ArchiveReader::Block> ArchiveReader::ReadBlock() {
  Block block;
  const int result = archive_read_data_block(archive_, &block.bytes, &block.size, &block.offset);
  if (result == ARCHIVE_EOF) return Block{};
  if (result < ARCHIVE_WARN) return Failed();
  return block;
}

bool ArchiveReader::compressed() const { return archive_filter_count(archive_) > 1; }

Result<std::unique_ptr<FilterStream>> FilterStream::Open(ByteStream& from) {
  auto stream = std::make_unique<FilterStream>();
  ASSIGN_OR_RETURN(stream->reader_, ArchiveReader::Open(from, Decoding::kRaw));
  ASSIGN_OR_RETURN(const archive_entry* entry, stream->reader_->Next());
  stream->empty_ = entry == nullptr;
  return stream;
}

Result<size_t> FilterStream::Read(char* buffer, size_t size) {
  if (empty_) return size_t{0};
  return reader_->ReadData(buffer, size);
}

}  // namespace tfemu::unpack
