#include "emulator/io/resident.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace tfemu::io {

// Only executable mappings: read-only ones may be relocated data, whose content would be lost.
void ForgetStartupCode() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char flags[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, flags) != 3) continue;
    if (std::string(flags) == "r-xp" && line.find(" /") != std::string::npos)
      ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

void ReturnFreeMemory() { ::malloc_trim(0); }

}  // namespace tfemu::io
