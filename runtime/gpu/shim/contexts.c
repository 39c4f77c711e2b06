// Contexts are counted, and their end gives back what they held. Functions from before CUDA 3.2 are refused
// under a limit.
#include "runtime/gpu/shim/accounting.h"
#include "runtime/gpu/shim/devices.h"
#include "runtime/gpu/shim/holdings.h"
#include "runtime/gpu/shim/hooks.h"

typedef CUresult (*CreateFunction)(Handle*, unsigned, int);
typedef CUresult (*Create3Function)(Handle*, void*, int, unsigned, int);
typedef CUresult (*Create4Function)(Handle*, void*, unsigned, int);
typedef CUresult (*ContextFunction)(Handle);
typedef CUresult (*RetainFunction)(Handle*, int);
typedef CUresult (*DeviceFunction)(int);
typedef CUresult (*StateFunction)(int, unsigned*, int*);
typedef CUresult (*AnyFunction)(void*, uint64_t, uint64_t, uint64_t, uint64_t);

void ShimDropContext(Handle context) {
  Holding held;
  uint64_t link = (uint64_t)(uintptr_t)context;
  while (link && (HoldingTakeLinked(kMemory, link, &held) || HoldingTakeLinked(kArray, link, &held)))
    ShimGiveBack(held.ordinal, held.size);
}

static CUresult Opened(CUresult result) {
  if (result == CUDA_SUCCESS) ShareCount(kContexts, 1);
  return result;
}

SHIM_EXPORT CUresult cuCtxCreate_v2(Handle* context, unsigned flags, int ordinal) {
  return Opened(TRUE_FUNCTION(cuCtxCreate_v2, CreateFunction)(context, flags, ordinal));
}

SHIM_EXPORT CUresult cuCtxCreate_v3(Handle* context, void* affinity, int count, unsigned flags, int ordinal) {
  return Opened(TRUE_FUNCTION(cuCtxCreate_v3, Create3Function)(context, affinity, count, flags, ordinal));
}

SHIM_EXPORT CUresult cuCtxCreate_v4(Handle* context, void* parameters, unsigned flags, int ordinal) {
  return Opened(TRUE_FUNCTION(cuCtxCreate_v4, Create4Function)(context, parameters, flags, ordinal));
}

static CUresult Destroy(Handle context, ContextFunction real) {
  CUresult result = real(context);
  if (result != CUDA_SUCCESS) return result;
  ShareCount(kContexts, -1);
  ShimDropContext(context);
  return result;
}

SHIM_EXPORT CUresult cuCtxDestroy_v2(Handle context) {
  return Destroy(context, TRUE_FUNCTION(cuCtxDestroy_v2, ContextFunction));
}

SHIM_EXPORT CUresult cuCtxDestroy(Handle context) {
  return Destroy(context, TRUE_FUNCTION(cuCtxDestroy, ContextFunction));
}

SHIM_EXPORT CUresult cuDevicePrimaryCtxRetain(Handle* context, int ordinal) {
  CUresult result = TRUE_FUNCTION(cuDevicePrimaryCtxRetain, RetainFunction)(context, ordinal);
  Holding primary;
  if (result != CUDA_SUCCESS || !context || HoldingFind(kPrimaryContext, (uint64_t)ordinal, &primary))
    return result;
  primary =
      (Holding){.kind = kPrimaryContext, .key = (uint64_t)ordinal, .link = (uint64_t)(uintptr_t)*context};
  HoldingPut(&primary);
  return Opened(result);
}

static void PrimaryIsGone(int ordinal) {
  Holding primary;
  if (!HoldingTake(kPrimaryContext, (uint64_t)ordinal, &primary)) return;
  ShareCount(kContexts, -1);
  ShimDropContext((Handle)(uintptr_t)primary.link);
}

// The last release ends the context.
static CUresult Release(int ordinal, DeviceFunction real) {
  CUresult result = real(ordinal);
  unsigned flags;
  int active = 1;
  if (result == CUDA_SUCCESS &&
      TRUE_FUNCTION(cuDevicePrimaryCtxGetState, StateFunction)(ordinal, &flags, &active) == CUDA_SUCCESS &&
      !active)
    PrimaryIsGone(ordinal);
  return result;
}

SHIM_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(int ordinal) {
  return Release(ordinal, TRUE_FUNCTION(cuDevicePrimaryCtxRelease_v2, DeviceFunction));
}

SHIM_EXPORT CUresult cuDevicePrimaryCtxRelease(int ordinal) {
  return Release(ordinal, TRUE_FUNCTION(cuDevicePrimaryCtxRelease, DeviceFunction));
}

static CUresult Reset(int ordinal, DeviceFunction real) {
  CUresult result = real(ordinal);
  if (result == CUDA_SUCCESS) PrimaryIsGone(ordinal);
  return result;
}

SHIM_EXPORT CUresult cuDevicePrimaryCtxReset_v2(int ordinal) {
  return Reset(ordinal, TRUE_FUNCTION(cuDevicePrimaryCtxReset_v2, DeviceFunction));
}

SHIM_EXPORT CUresult cuDevicePrimaryCtxReset(int ordinal) {
  return Reset(ordinal, TRUE_FUNCTION(cuDevicePrimaryCtxReset, DeviceFunction));
}

// Their sizes and pointers have 32 bits: no program of this century's GPUs uses them, but one could get past
// a limit.
#define BEFORE_CUDA_3_2(name)                                                          \
  SHIM_EXPORT CUresult name(void* a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) { \
    const ShimDevice* device = ShimDeviceOf(ShimCurrentOrdinal());                     \
    if (device && device->memory_limit) return CUDA_ERROR_NOT_SUPPORTED;               \
    return TRUE_FUNCTION(name, AnyFunction)(a, b, c, d, e);                            \
  }

BEFORE_CUDA_3_2(cuMemAlloc)
BEFORE_CUDA_3_2(cuMemAllocPitch)
BEFORE_CUDA_3_2(cuArrayCreate)
BEFORE_CUDA_3_2(cuArray3DCreate)
