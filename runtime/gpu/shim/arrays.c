// Arrays and mipmapped arrays are charged by what their texels need; the driver's tiling is not seen.
#include "runtime/gpu/shim/devices.h"
#include "runtime/gpu/shim/holdings.h"
#include "runtime/gpu/shim/hooks.h"

typedef struct ArrayForm {
  size_t width, height;
  unsigned format, channels;
} ArrayForm;

typedef struct Array3DForm {
  size_t width, height, depth;
  unsigned format, channels, flags;
} Array3DForm;

enum { kCubemap = 0x04, kSparse = 0x40, kDeferred = 0x80 };

typedef CUresult (*CreateFunction)(Handle*, const ArrayForm*);
typedef CUresult (*Create3DFunction)(Handle*, const Array3DForm*);
typedef CUresult (*MipmapFunction)(Handle*, const Array3DForm*, unsigned);
typedef CUresult (*DestroyFunction)(Handle);

static size_t FormatBytes(unsigned format) {
  switch (format) {
    case 0x01:
    case 0x08: return 1;
    case 0x02:
    case 0x09:
    case 0x10: return 2;
    default: return 4;  // 32-bit ones; block formats need less
  }
}

// 0: nothing that could be charged, e.g. memory that is bound later.
static uint64_t Bytes(const Array3DForm* form) {
  if (form->flags & (kSparse | kDeferred)) return 0;
  uint64_t bytes = form->width;
  const uint64_t factors[] = {form->height ? form->height : 1, form->depth ? form->depth : 1,
                              form->channels ? form->channels : 1, FormatBytes(form->format)};
  for (unsigned i = 0; i < 4; i++)
    if (__builtin_mul_overflow(bytes, factors[i], &bytes)) return UINT64_MAX;
  return bytes;
}

// Below half of the range, so that a sum of levels cannot overflow.
static uint64_t MipmapBytes(const Array3DForm* form, unsigned levels) {
  uint64_t bytes = Bytes(form), sum = 0;
  for (unsigned level = 0; level < levels && level < 32 && bytes; level++, bytes /= 4) {
    if (bytes > UINT64_MAX / 4) return UINT64_MAX;
    sum += bytes;
  }
  return sum;
}

static CUresult Settle(CUresult result, const Handle* array, uint64_t bytes, int ordinal) {
  if (result == CUDA_SUCCESS) {
    Holding holding = {.kind = kArray,
                       .key = (uint64_t)(uintptr_t)*array,
                       .size = bytes,
                       .ordinal = ordinal,
                       .link = ShimCurrentContext()};
    if (HoldingPut(&holding)) return CUDA_SUCCESS;
    TRUE_FUNCTION(cuArrayDestroy, DestroyFunction)(*array);
    result = CUDA_ERROR_OUT_OF_MEMORY;
  }
  ShimGiveBack(ordinal, bytes);
  return result;
}

SHIM_EXPORT CUresult cuArrayCreate_v2(Handle* array, const ArrayForm* form) {
  CreateFunction real = TRUE_FUNCTION(cuArrayCreate_v2, CreateFunction);
  int ordinal = ShimCurrentOrdinal();
  if (!array || !form || ordinal < 0) return real(array, form);
  Array3DForm full = {
      .width = form->width, .height = form->height, .format = form->format, .channels = form->channels};
  uint64_t bytes = Bytes(&full);
  if (!ShimReserve(ordinal, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Settle(real(array, form), array, bytes, ordinal);
}

SHIM_EXPORT CUresult cuArray3DCreate_v2(Handle* array, const Array3DForm* form) {
  Create3DFunction real = TRUE_FUNCTION(cuArray3DCreate_v2, Create3DFunction);
  int ordinal = ShimCurrentOrdinal();
  if (!array || !form || ordinal < 0) return real(array, form);
  uint64_t bytes = Bytes(form);
  if (!ShimReserve(ordinal, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Settle(real(array, form), array, bytes, ordinal);
}

SHIM_EXPORT CUresult cuMipmappedArrayCreate(Handle* array, const Array3DForm* form, unsigned levels) {
  MipmapFunction real = TRUE_FUNCTION(cuMipmappedArrayCreate, MipmapFunction);
  int ordinal = ShimCurrentOrdinal();
  if (!array || !form || ordinal < 0) return real(array, form, levels);
  uint64_t bytes = MipmapBytes(form, levels);
  if (!ShimReserve(ordinal, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  return Settle(real(array, form, levels), array, bytes, ordinal);
}

static CUresult Destroy(Handle array, DestroyFunction real) {
  Holding held;
  int known = HoldingTake(kArray, (uint64_t)(uintptr_t)array, &held);
  CUresult result = real(array);
  if (known && result == CUDA_SUCCESS) ShimGiveBack(held.ordinal, held.size);
  if (known && result != CUDA_SUCCESS) HoldingPut(&held);
  return result;
}

SHIM_EXPORT CUresult cuArrayDestroy(Handle array) {
  return Destroy(array, TRUE_FUNCTION(cuArrayDestroy, DestroyFunction));
}

SHIM_EXPORT CUresult cuMipmappedArrayDestroy(Handle array) {
  return Destroy(array, TRUE_FUNCTION(cuMipmappedArrayDestroy, DestroyFunction));
}
