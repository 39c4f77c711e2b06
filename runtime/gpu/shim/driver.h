// The true driver: opened at the first call, by its absolute path.
#pragma once

#include <stdint.h>

#define SHIM_EXPORT __attribute__((visibility("default")))

typedef int CUresult;
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_SUPPORTED = 801
};

// A function of the true driver, looked up once.
typedef struct TrueSymbol {
  const char* name;
  void* address;
} TrueSymbol;

// Never NULL: where there is no such function, one that returns CUDA_ERROR_NOT_FOUND; without a driver,
// NO_DEVICE.
void* ShimAddress(TrueSymbol* symbol);
// NULL when the true driver does not have it.
void* ShimFind(const char* name);

// `type` is the function's; the lookup is kept at the place of the call.
#define TRUE_FUNCTION(name, type)        \
  ((type)({                              \
    static TrueSymbol here = {#name, 0}; \
    ShimAddress(&here);                  \
  }))
