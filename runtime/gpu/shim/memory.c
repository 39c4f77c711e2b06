// Device memory: each request is charged before the driver sees it, and given back when the driver refuses
// it.
#include "runtime/gpu/shim/accounting.h"
#include "runtime/gpu/shim/devices.h"
#include "runtime/gpu/shim/holdings.h"
#include "runtime/gpu/shim/hooks.h"

typedef CUresult (*AllocFunction)(CUdeviceptr*, size_t);
typedef CUresult (*PitchFunction)(CUdeviceptr*, size_t*, size_t, size_t, unsigned);
typedef CUresult (*ManagedFunction)(CUdeviceptr*, size_t, unsigned);
typedef CUresult (*AsyncFunction)(CUdeviceptr*, size_t, Handle);
typedef CUresult (*PoolAsyncFunction)(CUdeviceptr*, size_t, Handle, Handle);
typedef CUresult (*FreeFunction)(CUdeviceptr);
typedef CUresult (*FreeAsyncFunction)(CUdeviceptr, Handle);
typedef CUresult (*CurrentFunction)(Handle*);
typedef CUresult (*InfoFunction)(size_t*, size_t*);
typedef CUresult (*TotalFunction)(size_t*, int);
typedef CUresult (*PoolFunction)(Handle*, int);
typedef CUresult (*PoolCreateFunction)(Handle*, const int*);

uint64_t ShimCurrentContext(void) {
  Handle context = NULL;
  CurrentFunction get = TRUE_FUNCTION(cuCtxGetCurrent, CurrentFunction);
  return get(&context) == CUDA_SUCCESS ? (uint64_t)(uintptr_t)context : 0;
}

static CUresult Keep(CUdeviceptr pointer, size_t size, int ordinal, uint64_t context) {
  Holding holding = {.kind = kMemory, .key = pointer, .size = size, .ordinal = ordinal, .link = context};
  if (HoldingPut(&holding)) return CUDA_SUCCESS;
  TRUE_FUNCTION(cuMemFree_v2, FreeFunction)(pointer);
  ShimGiveBack(ordinal, size);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

// After the driver's answer: keeps what it gave, or gives the charge back.
static CUresult Settle(CUresult result, const CUdeviceptr* pointer, size_t size, int ordinal,
                       uint64_t context) {
  if (result == CUDA_SUCCESS) return Keep(*pointer, size, ordinal, context);
  ShimGiveBack(ordinal, size);
  return result;
}

SHIM_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t size) {
  AllocFunction real = TRUE_FUNCTION(cuMemAlloc_v2, AllocFunction);
  int ordinal = ShimCurrentOrdinal();
  if (!pointer || !size || ordinal < 0) return real(pointer, size);
  if (!ShimReserve(ordinal, size)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Settle(real(pointer, size), pointer, size, ordinal, ShimCurrentContext());
}

// The rows' length is the driver's choice: what it adds is charged when it is known.
SHIM_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                                        unsigned element) {
  PitchFunction real = TRUE_FUNCTION(cuMemAllocPitch_v2, PitchFunction);
  int ordinal = ShimCurrentOrdinal();
  size_t size, whole;
  if (!pointer || !pitch || !width || !height || ordinal < 0)
    return real(pointer, pitch, width, height, element);
  if (__builtin_mul_overflow(width, height, &size) || !ShimReserve(ordinal, size))
    return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = real(pointer, pitch, width, height, element);
  if (result == CUDA_SUCCESS && !__builtin_mul_overflow(*pitch, height, &whole) && whole > size) {
    if (ShimReserve(ordinal, whole - size)) {
      size = whole;
    } else {
      TRUE_FUNCTION(cuMemFree_v2, FreeFunction)(*pointer);
      result = CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  return Settle(result, pointer, size, ordinal, ShimCurrentContext());
}

SHIM_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t size, unsigned flags) {
  ManagedFunction real = TRUE_FUNCTION(cuMemAllocManaged, ManagedFunction);
  int ordinal = ShimCurrentOrdinal();
  if (!pointer || !size || ordinal < 0) return real(pointer, size, flags);
  if (!ShimReserve(ordinal, size)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Settle(real(pointer, size, flags), pointer, size, ordinal, ShimCurrentContext());
}

static CUresult AllocAsync(TrueSymbol* symbol, CUdeviceptr* pointer, size_t size, Handle stream) {
  AsyncFunction real = (AsyncFunction)ShimAddress(symbol);
  int ordinal = ShimCurrentOrdinal();
  if (!pointer || !size || ordinal < 0) return real(pointer, size, stream);
  if (!ShimReserve(ordinal, size)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Settle(real(pointer, size, stream), pointer, size, ordinal, 0);
}

SHIM_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t size, Handle stream) {
  static TrueSymbol symbol = {"cuMemAllocAsync", 0};
  return AllocAsync(&symbol, pointer, size, stream);
}

SHIM_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr* pointer, size_t size, Handle stream) {
  static TrueSymbol symbol = {"cuMemAllocAsync_ptsz", 0};
  return AllocAsync(&symbol, pointer, size, stream);
}

// -1: a pool of host memory, or no current device for one that is not known.
static int PoolOrdinal(Handle pool) {
  Holding known;
  return HoldingFind(kPool, (uint64_t)(uintptr_t)pool, &known) ? known.ordinal : ShimCurrentOrdinal();
}

static CUresult PoolAsync(TrueSymbol* symbol, CUdeviceptr* pointer, size_t size, Handle pool, Handle stream) {
  PoolAsyncFunction real = (PoolAsyncFunction)ShimAddress(symbol);
  int ordinal = PoolOrdinal(pool);
  if (!pointer || !size || ordinal < 0) return real(pointer, size, pool, stream);
  if (!ShimReserve(ordinal, size)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Settle(real(pointer, size, pool, stream), pointer, size, ordinal, 0);
}

SHIM_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t size, Handle pool, Handle stream) {
  static TrueSymbol symbol = {"cuMemAllocFromPoolAsync", 0};
  return PoolAsync(&symbol, pointer, size, pool, stream);
}

SHIM_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* pointer, size_t size, Handle pool,
                                                  Handle stream) {
  static TrueSymbol symbol = {"cuMemAllocFromPoolAsync_ptsz", 0};
  return PoolAsync(&symbol, pointer, size, pool, stream);
}

static void KeepPool(Handle pool, int ordinal) {
  Holding holding = {.kind = kPool, .key = (uint64_t)(uintptr_t)pool, .ordinal = ordinal};
  HoldingPut(&holding);
}

// CUmemPoolProps: allocation type, handle types, location type (1: a device), location id.
SHIM_EXPORT CUresult cuMemPoolCreate(Handle* pool, const int* properties) {
  CUresult result = TRUE_FUNCTION(cuMemPoolCreate, PoolCreateFunction)(pool, properties);
  if (result == CUDA_SUCCESS && pool && properties) KeepPool(*pool, properties[2] == 1 ? properties[3] : -1);
  return result;
}

SHIM_EXPORT CUresult cuDeviceGetDefaultMemPool(Handle* pool, int ordinal) {
  CUresult result = TRUE_FUNCTION(cuDeviceGetDefaultMemPool, PoolFunction)(pool, ordinal);
  if (result == CUDA_SUCCESS && pool) KeepPool(*pool, ordinal);
  return result;
}

// A pool that was made by cuMemPoolCreate and set for the device is already known, with its own device.
SHIM_EXPORT CUresult cuDeviceGetMemPool(Handle* pool, int ordinal) {
  CUresult result = TRUE_FUNCTION(cuDeviceGetMemPool, PoolFunction)(pool, ordinal);
  Holding known;
  if (result == CUDA_SUCCESS && pool && !HoldingFind(kPool, (uint64_t)(uintptr_t)*pool, &known))
    KeepPool(*pool, ordinal);
  return result;
}

// Taken out before the driver frees: the address may be given to another thread at once. Put back when it
// refuses.
SHIM_EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer) {
  Holding held;
  int known = HoldingTake(kMemory, pointer, &held);
  CUresult result = TRUE_FUNCTION(cuMemFree_v2, FreeFunction)(pointer);
  if (known && result == CUDA_SUCCESS) ShimGiveBack(held.ordinal, held.size);
  if (known && result != CUDA_SUCCESS) HoldingPut(&held);
  return result;
}

static CUresult FreeAsync(TrueSymbol* symbol, CUdeviceptr pointer, Handle stream) {
  Holding held;
  int known = HoldingTake(kMemory, pointer, &held);
  CUresult result = ((FreeAsyncFunction)ShimAddress(symbol))(pointer, stream);
  if (known && result == CUDA_SUCCESS) ShimGiveBack(held.ordinal, held.size);
  if (known && result != CUDA_SUCCESS) HoldingPut(&held);
  return result;
}

SHIM_EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, Handle stream) {
  static TrueSymbol symbol = {"cuMemFreeAsync", 0};
  return FreeAsync(&symbol, pointer, stream);
}

SHIM_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, Handle stream) {
  static TrueSymbol symbol = {"cuMemFreeAsync_ptsz", 0};
  return FreeAsync(&symbol, pointer, stream);
}

// Either pointer may be NULL.
SHIM_EXPORT CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  InfoFunction real = TRUE_FUNCTION(cuMemGetInfo_v2, InfoFunction);
  if (!free_bytes && !total_bytes) return real(free_bytes, total_bytes);
  size_t free_now = 0, total = 0;
  CUresult result = real(&free_now, &total);
  if (result != CUDA_SUCCESS) return result;
  const ShimDevice* device = ShimDeviceOf(ShimCurrentOrdinal());
  if (device && device->index >= 0 && device->memory_limit && device->memory_limit < total) {
    uint64_t used = ShareUsed(device->index);
    uint64_t left = used < device->memory_limit ? device->memory_limit - used : 0;
    total = device->memory_limit;
    if (left < free_now) free_now = left;
  }
  if (free_bytes) *free_bytes = free_now;
  if (total_bytes) *total_bytes = total;
  return CUDA_SUCCESS;
}

SHIM_EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, int ordinal) {
  CUresult result = TRUE_FUNCTION(cuDeviceTotalMem_v2, TotalFunction)(bytes, ordinal);
  if (result != CUDA_SUCCESS || !bytes) return result;
  const ShimDevice* device = ShimDeviceOf(ordinal);
  if (device && device->memory_limit && device->memory_limit < *bytes) *bytes = device->memory_limit;
  return result;
}
