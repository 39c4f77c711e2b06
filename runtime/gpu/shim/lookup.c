// cuGetProcAddress: gives the shim's own functions for the hooked names, and the driver's for all others.
#include <string.h>

#include "runtime/gpu/shim/hooks.h"

enum { kPerThreadStream = 2 };

typedef struct Hook {
  const char* symbol;
  const char* base;
  int since, per_thread;
  void* ours;
} Hook;

// The functions' true types are in their own files; here only addresses are needed.
#define ALIAS(symbol, base, since, per_thread) extern char ours_##symbol __asm__(#symbol);
#define ENTRY(symbol, base, since, per_thread) {#symbol, base, since, per_thread, &ours_##symbol},
SHIM_HOOKS(ALIAS)

static const Hook hooks[] = {SHIM_HOOKS(ENTRY)};
enum { kHooks = sizeof hooks / sizeof *hooks };

// The hook whose true function the driver has answered with; that tells the right one of several versions.
static const Hook* ByAddress(const char* base, const void* address) {
  for (unsigned i = 0; i < kHooks; i++)
    if (!strcmp(hooks[i].base, base) && ShimFind(hooks[i].symbol) == address) return &hooks[i];
  return NULL;
}

// For a driver that gives other addresses here than by name: the newest version that the caller can mean.
static const Hook* ByVersion(const char* base, int version, int per_thread) {
  const Hook* best = NULL;
  for (unsigned i = 0; i < kHooks; i++) {
    const Hook* hook = &hooks[i];
    if (strcmp(hook->base, base) != 0 || hook->since > version || !ShimFind(hook->symbol)) continue;
    int better = !best || (hook->per_thread == per_thread) > (best->per_thread == per_thread) ||
                 (hook->per_thread == best->per_thread && hook->since > best->since);
    if (better && (hook->per_thread <= per_thread)) best = hook;
  }
  return best;
}

static CUresult Replace(CUresult result, const char* name, void** function, int version, uint64_t flags) {
  if (result != CUDA_SUCCESS || !name || !function || !*function) return result;
  const Hook* hook = ByAddress(name, *function);
  if (!hook) hook = ByVersion(name, version, (flags & kPerThreadStream) != 0);
  if (hook) *function = hook->ours;
  return result;
}

typedef CUresult (*OldFunction)(const char*, void**, int, uint64_t);
typedef CUresult (*NewFunction)(const char*, void**, int, uint64_t, int*);

#define OLD(symbol)                                                                             \
  SHIM_EXPORT CUresult symbol(const char* name, void** function, int version, uint64_t flags) { \
    CUresult result = TRUE_FUNCTION(symbol, OldFunction)(name, function, version, flags);       \
    return Replace(result, name, function, version, flags);                                     \
  }

#define NEW(symbol)                                                                                          \
  SHIM_EXPORT CUresult symbol(const char* name, void** function, int version, uint64_t flags, int* status) { \
    CUresult result = TRUE_FUNCTION(symbol, NewFunction)(name, function, version, flags, status);            \
    return Replace(result, name, function, version, flags);                                                  \
  }

OLD(cuGetProcAddress)
NEW(cuGetProcAddress_v2)
// Under these names the default stream is the thread's own, whatever the flags say.
#define WITH_PER_THREAD(flags) ((flags) | kPerThreadStream)
SHIM_EXPORT CUresult cuGetProcAddress_ptsz(const char* name, void** function, int version, uint64_t flags) {
  CUresult result = TRUE_FUNCTION(cuGetProcAddress_ptsz, OldFunction)(name, function, version, flags);
  return Replace(result, name, function, version, WITH_PER_THREAD(flags));
}

SHIM_EXPORT CUresult cuGetProcAddress_v2_ptsz(const char* name, void** function, int version, uint64_t flags,
                                              int* status) {
  CUresult result =
      TRUE_FUNCTION(cuGetProcAddress_v2_ptsz, NewFunction)(name, function, version, flags, status);
  return Replace(result, name, function, version, WITH_PER_THREAD(flags));
}
