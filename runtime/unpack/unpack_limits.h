// What an archive may cost. Every limit is checked while reading, before anything is written for it.
#pragma once

#include <cstdint>

namespace tfemu::unpack {

struct Limits {
  uint64_t bytes = 64ull << 30;  // of all files together, holes included
  uint64_t entries = 2'000'000;  // of all layers together
  uint64_t ratio = 200;          // unpacked to packed; asked only beyond kRatioFree
  static constexpr uint64_t kRatioFree = 2ull << 30;
};

// What is left of the limits, for one image.
struct Spent {
  uint64_t bytes = 0, entries = 0;
};

}  // namespace tfemu::unpack
