// The visible devices of this process with the limits that the environment gives them.
#pragma once

#include <stdint.h>

typedef struct ShimDevice {
  int ready;
  int index;              // in the accounting file; -1: not counted
  uint64_t memory_limit;  // 0: none
  unsigned core_percent;  // 100: no limit
} ShimDevice;

// NULL for an ordinal that there is not, and while the driver does not tell which device it is.
const ShimDevice* ShimDeviceOf(int ordinal);
// The current context's device; -1: there is none (the driver's own answer will say so).
int ShimCurrentOrdinal(void);
int ShimAnyCoreLimit(void);

// Charges `bytes` on the device; a device that is not known is not charged. 0: over the limit.
int ShimReserve(int ordinal, uint64_t bytes);
void ShimGiveBack(int ordinal, uint64_t bytes);
