// The state of the emulated NVML: the count of inits, the devices file as it is now, and the handles given
// out.
#pragma once

#include "runtime/gpu/nvml/abi.h"
#include "runtime/gpu/reader/devices.h"

#define RETURN_IF_FAILED(expression)            \
  do {                                          \
    nvmlReturn_t result_of_call = (expression); \
    if (result_of_call) return result_of_call;  \
  } while (0)

// Each Enter that succeeds holds the lock until SessionLeave, and what it gave is good until then.
nvmlReturn_t SessionEnter(const GpuList** list);
// Also finds the device of a handle; GPU_IS_LOST for one that is gone or ill in that way.
nvmlReturn_t SessionEnterDevice(nvmlDevice_t handle, const GpuList** list, const GpuDevice** device);
// The same, for a lost device as well (its identity is still known).
nvmlReturn_t SessionEnterIdentity(nvmlDevice_t handle, const GpuList** list, const GpuDevice** device);
nvmlReturn_t SessionLeave(nvmlReturn_t result);

// Inside Enter and Leave: the handle of a device; a device keeps its handle through all changes of the file.
nvmlReturn_t SessionHandle(const GpuDevice* device, nvmlDevice_t* handle);
// Inside Enter and Leave: another handle's device.
const GpuDevice* SessionDevice(nvmlDevice_t handle);

// For strings with a buffer's length, as NVML does it.
nvmlReturn_t CopyText(char* out, unsigned length, const char* text);
