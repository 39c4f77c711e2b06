// Housekeeping of the store: what no archive names any more goes, unless a pod still runs on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/base/result.h"

namespace tfemu::image {

struct Pruned {
  int records = 0, layers = 0;
  uint64_t bytes = 0;             // as the layers' records say
  std::vector<std::string> kept;  // layers that nobody names but a pod uses
};

// Forgets the records in `forgotten` (keys), and those whose archive has changed or gone. With `dry`, only
// says what it would do. kUnavailable while another process unpacks.
Result<Pruned> PruneStore(const std::string& cache_folder, const std::vector<std::string>& forgotten,
                          bool dry);

}  // namespace tfemu::image
