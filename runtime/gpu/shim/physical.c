// cuMemCreate and its mappings: the memory lives until the last reference and the last mapping are gone.
#include "runtime/gpu/shim/devices.h"
#include "runtime/gpu/shim/holdings.h"
#include "runtime/gpu/shim/hooks.h"

typedef CUresult (*CreateFunction)(uint64_t*, size_t, const int*, uint64_t);
typedef CUresult (*HandleFunction)(uint64_t);
typedef CUresult (*MapFunction)(CUdeviceptr, size_t, size_t, uint64_t, uint64_t);
typedef CUresult (*UnmapFunction)(CUdeviceptr, size_t);
typedef CUresult (*RetainFunction)(uint64_t*, void*);

// CUmemAllocationProp: type, handle types, location type (1: a device), location id. Host memory is not
// charged.
SHIM_EXPORT CUresult cuMemCreate(uint64_t* handle, size_t size, const int* properties, uint64_t flags) {
  CreateFunction real = TRUE_FUNCTION(cuMemCreate, CreateFunction);
  if (!handle || !properties || !size || properties[2] != 1) return real(handle, size, properties, flags);
  int ordinal = properties[3];
  if (!ShimReserve(ordinal, size)) return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = real(handle, size, properties, flags);
  if (result == CUDA_SUCCESS) {
    Holding holding = {.kind = kPhysical, .key = *handle, .size = size, .ordinal = ordinal, .references = 1};
    if (HoldingPut(&holding)) return CUDA_SUCCESS;
    TRUE_FUNCTION(cuMemRelease, HandleFunction)(*handle);
    result = CUDA_ERROR_OUT_OF_MEMORY;
  }
  ShimGiveBack(ordinal, size);
  return result;
}

static void Refer(uint64_t handle, int references, int mappings) {
  Holding held;
  if (HoldingRefer(handle, references, mappings, &held)) ShimGiveBack(held.ordinal, held.size);
}

// The count goes down before the driver's call, since the handle may be given to another thread after it.
SHIM_EXPORT CUresult cuMemRelease(uint64_t handle) {
  Holding held, before;
  int known = HoldingFind(kPhysical, handle, &before);
  int over = known && HoldingRefer(handle, -1, 0, &held);
  CUresult result = TRUE_FUNCTION(cuMemRelease, HandleFunction)(handle);
  if (!known) return result;
  if (result == CUDA_SUCCESS) {
    if (over) ShimGiveBack(held.ordinal, held.size);
  } else if (over) {
    held.references++;
    HoldingPut(&held);
  } else {
    Refer(handle, 1, 0);
  }
  return result;
}

SHIM_EXPORT CUresult cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  CUresult result = TRUE_FUNCTION(cuMemRetainAllocationHandle, RetainFunction)(handle, address);
  if (result == CUDA_SUCCESS && handle) Refer(*handle, 1, 0);
  return result;
}

SHIM_EXPORT CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, uint64_t handle,
                              uint64_t flags) {
  CUresult result = TRUE_FUNCTION(cuMemMap, MapFunction)(pointer, size, offset, handle, flags);
  Holding known;
  if (result != CUDA_SUCCESS || !HoldingFind(kPhysical, handle, &known)) return result;
  Holding mapping = {.kind = kMapping, .key = pointer, .size = size, .link = handle};
  if (HoldingPut(&mapping)) Refer(handle, 0, 1);
  return result;
}

SHIM_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
  CUresult result = TRUE_FUNCTION(cuMemUnmap, UnmapFunction)(pointer, size);
  Holding mapping;
  while (result == CUDA_SUCCESS && HoldingTakeMapping(pointer, size, &mapping)) Refer(mapping.link, 0, -1);
  return result;
}
