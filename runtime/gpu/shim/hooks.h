// The driver's functions that the shim has bodies for, with the CUDA version that brought each of them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/gpu/shim/driver.h"

typedef uint64_t CUdeviceptr;
typedef void* Handle;  // contexts, streams, functions, arrays, pools

// HOOK(symbol, name as cuGetProcAddress knows it, since, 1 for the per-thread default stream's form)
#define SHIM_HOOKS(HOOK)                                                     \
  HOOK(cuMemAlloc, "cuMemAlloc", 2000, 0)                                    \
  HOOK(cuMemAlloc_v2, "cuMemAlloc", 3020, 0)                                 \
  HOOK(cuMemAllocPitch, "cuMemAllocPitch", 2000, 0)                          \
  HOOK(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, 0)                       \
  HOOK(cuMemAllocManaged, "cuMemAllocManaged", 6000, 0)                      \
  HOOK(cuMemAllocAsync, "cuMemAllocAsync", 11020, 0)                         \
  HOOK(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, 1)                    \
  HOOK(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, 0)         \
  HOOK(cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync", 11020, 1)    \
  HOOK(cuMemFree_v2, "cuMemFree", 3020, 0)                                   \
  HOOK(cuMemFreeAsync, "cuMemFreeAsync", 11020, 0)                           \
  HOOK(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, 1)                      \
  HOOK(cuMemPoolCreate, "cuMemPoolCreate", 11020, 0)                         \
  HOOK(cuDeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", 11020, 0)     \
  HOOK(cuDeviceGetMemPool, "cuDeviceGetMemPool", 11020, 0)                   \
  HOOK(cuMemCreate, "cuMemCreate", 10020, 0)                                 \
  HOOK(cuMemRelease, "cuMemRelease", 10020, 0)                               \
  HOOK(cuMemMap, "cuMemMap", 10020, 0)                                       \
  HOOK(cuMemUnmap, "cuMemUnmap", 10020, 0)                                   \
  HOOK(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000, 0) \
  HOOK(cuArrayCreate, "cuArrayCreate", 2000, 0)                              \
  HOOK(cuArrayCreate_v2, "cuArrayCreate", 3020, 0)                           \
  HOOK(cuArray3DCreate, "cuArray3DCreate", 2000, 0)                          \
  HOOK(cuArray3DCreate_v2, "cuArray3DCreate", 3020, 0)                       \
  HOOK(cuArrayDestroy, "cuArrayDestroy", 2000, 0)                            \
  HOOK(cuMipmappedArrayCreate, "cuMipmappedArrayCreate", 5000, 0)            \
  HOOK(cuMipmappedArrayDestroy, "cuMipmappedArrayDestroy", 5000, 0)          \
  HOOK(cuMemGetInfo_v2, "cuMemGetInfo", 3020, 0)                             \
  HOOK(cuDeviceTotalMem_v2, "cuDeviceTotalMem", 3020, 0)                     \
  HOOK(cuLaunchKernel, "cuLaunchKernel", 4000, 0)                            \
  HOOK(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000, 1)                       \
  HOOK(cuLaunchKernelEx, "cuLaunchKernelEx", 11060, 0)                       \
  HOOK(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", 11060, 1)                  \
  HOOK(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000, 0)      \
  HOOK(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", 9000, 1) \
  HOOK(cuGraphLaunch, "cuGraphLaunch", 10000, 0)                             \
  HOOK(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000, 1)                        \
  HOOK(cuCtxCreate_v2, "cuCtxCreate", 3020, 0)                               \
  HOOK(cuCtxCreate_v3, "cuCtxCreate", 11040, 0)                              \
  HOOK(cuCtxCreate_v4, "cuCtxCreate", 12050, 0)                              \
  HOOK(cuCtxDestroy, "cuCtxDestroy", 2000, 0)                                \
  HOOK(cuCtxDestroy_v2, "cuCtxDestroy", 4000, 0)                             \
  HOOK(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000, 0)        \
  HOOK(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease", 7000, 0)      \
  HOOK(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000, 0)  \
  HOOK(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset", 7000, 0)          \
  HOOK(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, 0)      \
  HOOK(cuGetProcAddress, "cuGetProcAddress", 11030, 0)                       \
  HOOK(cuGetProcAddress_ptsz, "cuGetProcAddress", 11030, 1)                  \
  HOOK(cuGetProcAddress_v2, "cuGetProcAddress", 12000, 0)                    \
  HOOK(cuGetProcAddress_v2_ptsz, "cuGetProcAddress", 12000, 1)

// Gives back all that the end of a context frees.
void ShimDropContext(Handle context);
// The current context, 0 without one.
uint64_t ShimCurrentContext(void);
