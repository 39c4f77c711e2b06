// Writes a layer's entries into a folder, never outside of it, and turns whiteouts into what overlayfs reads.
#pragma once

#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "emulator/base/unique_fd.h"
#include "runtime/unpack/archive_reader.h"
#include "runtime/unpack/unpack_limits.h"

namespace tfemu::unpack {

enum class Whiteouts {
  kMarks,    // overlayfs': a character device 0/0, and trusted.overlay.opaque
  kRemoves,  // the folder holds the lower layers already: what is whited out is deleted
};

struct LayerWriterOptions {
  Whiteouts whiteouts = Whiteouts::kMarks;
  bool owners = true;  // false where the kernel lets us give nothing away
  // With kMarks: the layers below, the highest first. A folder that a layer leaves unsaid is as it is there.
  std::vector<std::string> lowers = {};
};

// Works in the process's current folder, so there is one at a time.
class LayerWriter {
 public:
  // `folder` is empty, but for kRemoves.
  static Result<std::unique_ptr<LayerWriter>> Open(const std::string& folder,
                                                   const LayerWriterOptions& options);
  ~LayerWriter();
  LayerWriter(const LayerWriter&) = delete;

  // kInvalid for what no honest layer has; the message names the entry.
  Result<void> Add(archive_entry* entry, ArchiveReader& data);
  // Times and modes of folders come last.
  Result<void> Finish();
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  LayerWriter() = default;

  Result<void> CheckType(const std::string& path, archive_entry* entry) const;
  Result<void> AddRoot(archive_entry* entry);
  Result<void> AddWhiteout(const std::string& path, const std::string& name);
  Result<void> MarkOpaque(const std::string& folder);
  Result<void> MakeParents(const std::string& path);
  Result<void> MakeParent(const std::string& folder);
  Result<void> TakeAfterLowers(const std::string& folder);
  Result<void> MakeRoom(const std::string& path, bool folder);
  Result<void> CheckHardLink(const std::string& path, archive_entry* entry);
  void KeepSaneAttributes(const std::string& path, archive_entry* entry);
  Result<void> Write(const std::string& path, archive_entry* entry, ArchiveReader& data);
  Result<void> WriteHere(const std::string& path, archive_entry* entry, ArchiveReader& data);
  Result<void> WriteData(ArchiveReader& data);
  Error DiskError(const std::string& path) const;
  bool IsOurs(const std::string& path) const;
  void Note(const std::string& text);

  LayerWriterOptions options_;
  UniqueFd before_, root_, parent_;  // parent_ is last_parent_, when that is not the root
  std::vector<UniqueFd> lowers_;
  archive* disk_ = nullptr;
  std::string current_, last_parent_;
  std::unordered_set<std::string> made_;  // with kRemoves: what this layer has made
  std::set<std::string> whited_;          // with kMarks: devices that stand for removed names
  std::vector<std::string> notes_;
};

// Whether overlayfs' marks can be made in `folder`: not on another overlay, and not without root.
bool CanMark(const std::string& folder);

}  // namespace tfemu::unpack
