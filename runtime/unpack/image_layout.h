// What an image consists of, read from the documents of a docker archive or of an OCI layout.
#pragma once

#include <string>
#include <vector>

#include "runtime/image/archive_record.h"
#include "runtime/unpack/image_source.h"

namespace tfemu::unpack {

struct LayerFile {
  std::string name;     // in the source
  std::string diff_id;  // what its tar must have
  std::string digest;   // what the file must have, or ""
  uint64_t size = 0;    // what the file must have, or 0
};

struct Layout {
  image::ArchiveRecord record;    // without layers and folders
  std::vector<LayerFile> layers;  // the lowest first
};

// `select` names one of several images. kInvalid names the document and what is wrong with it.
Result<Layout> ReadLayout(const ImageSource& source, const std::string& select);

// "sha256:" and 64 digits, lower case: nothing else may become a file's name.
bool IsDigest(const std::string& text);

}  // namespace tfemu::unpack
