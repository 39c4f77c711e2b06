#include "runtime/unpack/layer_reader.h"

#include <algorithm>

#include "runtime/unpack/archive_reader.h"

namespace tfemu::unpack {
namespace {

constexpr const char* kTrust =
    "if you trust it: limits: {bytes: 100GiB, entries: 5000000, ratio: 2000} in its image.yaml";

Error TooMuch(const std::string& what) {
  return {.reason = Reason::kInvalid, .message = what, .hint = kTrust};
}

class LayerReader {
 public:
  LayerReader(ByteStream& packed, const LayerJob& job, Spent& spent)
      : job_(job),
        spent_(spent),
        packed_(
            packed,
            [this](uint64_t count) {
              if (job_.progress) job_.progress(count);
              return Result<void>();
            },
            !job.digest.empty()) {}

  Result<LayerOutcome> Run() {
    const auto read = Read();
    if (!read.ok()) return Blame(read.error());
    RETURN_IF_ERROR(Drain(packed_));
    outcome_.layer.packed_bytes = packed_.count();
    outcome_.layer.digest = job_.digest.empty() ? outcome_.layer.diff_id : packed_.Digest();
    if (!job_.digest.empty() && outcome_.layer.digest != job_.digest)
      return WrongDigest("it", job_.digest, outcome_.layer.digest);
    if (!job_.diff_id.empty() && outcome_.layer.diff_id != job_.diff_id)
      return WrongDigest("its tar", job_.diff_id, outcome_.layer.diff_id);
    return std::move(outcome_);
  }

 private:
  static Error WrongDigest(const std::string& what, const std::string& wanted, const std::string& found) {
    return {.reason = Reason::kInvalid,
            .message = "wrong digest: " + what + " must be " + wanted + " and is " + found,
            .hint = "the file is damaged or was changed; fetch it again"};
  }

  // A byte that was changed shows first as something else; the digest tells.
  Error Blame(const Error& error) {
    if (job_.digest.empty() || error.reason != Reason::kInvalid || error.hint == kTrust) return error;
    if (!Drain(packed_).ok()) return error;
    const std::string found = packed_.Digest();
    return found == job_.digest ? error : WrongDigest("it", job_.digest, found);
  }

  Result<void> Read() {
    ASSIGN_OR_RETURN(const auto plain, FilterStream::Open(packed_));
    HashingStream tar(*plain, [this](uint64_t count) { return CheckStream(count); });
    ASSIGN_OR_RETURN(const auto reader, ArchiveReader::Open(tar, Decoding::kTar));
    ASSIGN_OR_RETURN(const auto writer, LayerWriter::Open(job_.folder, job_.writing));
    for (;;) {
      ASSIGN_OR_RETURN(archive_entry * entry, reader->Next());
      if (!entry) break;
      RETURN_IF_ERROR(CheckEntry(entry));
      RETURN_IF_ERROR(writer->Add(entry, *reader));
    }
    RETURN_IF_ERROR(Drain(tar));
    RETURN_IF_ERROR(writer->Finish());
    outcome_.notes = writer->notes();
    outcome_.notes.insert(outcome_.notes.end(), reader->warnings().begin(), reader->warnings().end());
    // A digest finds a missing end as well; without one, a tar's own end mark must do.
    if (job_.diff_id.empty() && !tar.EndsWithZeros())
      return Error{.reason = Reason::kInvalid,
                   .message = "it ends early: after " + std::to_string(tar.count()) + " bytes and " +
                              std::to_string(outcome_.layer.entries) + " entries, without a tar's end mark",
                   .hint = "the file is damaged or was not copied to its end"};
    outcome_.layer.diff_id = tar.Digest();
    return {};
  }

  Result<void> CheckStream(uint64_t count) {
    if (count > job_.limits.bytes)
      return TooMuch("it unpacks to more than " + std::to_string(job_.limits.bytes) + " bytes");
    if (count > Limits::kRatioFree && count / job_.limits.ratio > packed_.count())
      return TooMuch("it unpacks to more than " + std::to_string(job_.limits.ratio) +
                     " times its size, as archives do that are made to fill a disk");
    return {};
  }

  Result<void> CheckEntry(archive_entry* entry) {
    const std::string name = archive_entry_pathname(entry);
    const int64_t size = archive_entry_hardlink(entry) ? 0 : archive_entry_size(entry);
    if (size < 0) return Error{Reason::kInvalid, "the entry \"" + name + "\" has a negative size"};
    ++outcome_.layer.entries;
    outcome_.layer.unpacked_bytes += static_cast<uint64_t>(size);
    if (++spent_.entries > job_.limits.entries)
      return TooMuch("it has more than " + std::to_string(job_.limits.entries) + " entries");
    if (static_cast<uint64_t>(size) > job_.limits.bytes - std::min(spent_.bytes, job_.limits.bytes))
      return TooMuch("with the entry \"" + name + "\" of " + std::to_string(size) +
                     " bytes, its files have more than " + std::to_string(job_.limits.bytes) + " bytes");
    spent_.bytes += static_cast<uint64_t>(size);
    return {};
  }

  const LayerJob& job_;
  Spent& spent_;
  HashingStream packed_;
  LayerOutcome outcome_;
};

}  // namespace

Result<LayerOutcome> ReadLayer(ByteStream& packed, const LayerJob& job, Spent& spent) {
  return LayerReader(packed, job, spent).Run();
}

}  // namespace tfemu::unpack
