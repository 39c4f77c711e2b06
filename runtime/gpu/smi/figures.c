// Figures that every view shows in the same way.
#include "runtime/gpu/smi/smi.h"

unsigned long long SmiMiB(uint64_t bytes) { return bytes >> 20; }

const char* SmiState(const GpuDevice* device) { return device->utilization ? "P0" : "P8"; }
