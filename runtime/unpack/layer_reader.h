// One layer from its packed bytes to a folder, with every limit and digest checked on the way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/image.h"
#include "runtime/unpack/byte_stream.h"
#include "runtime/unpack/layer_writer.h"
#include "runtime/unpack/unpack_limits.h"

namespace tfemu::unpack {

struct LayerJob {
  std::string folder;           // to write to
  std::string diff_id, digest;  // that it must have; "" where nobody has said one
  LayerWriterOptions writing;
  Limits limits;
  std::function<void(uint64_t packed)> progress = nullptr;
};

struct LayerOutcome {
  runtime::ImageLayer layer;
  std::vector<std::string> notes;
};

// `spent` is what earlier layers of the image have used up.
Result<LayerOutcome> ReadLayer(ByteStream& packed, const LayerJob& job, Spent& spent);

}  // namespace tfemu::unpack
