// Launches are counted; under a core limit the share takes turns of work and rest.
#include <time.h>

#include "runtime/gpu/shim/accounting.h"
#include "runtime/gpu/shim/devices.h"
#include "runtime/gpu/shim/hooks.h"

typedef CUresult (*KernelFunction)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, Handle, void**, void**);
typedef CUresult (*CooperativeFunction)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                        unsigned, Handle, void**);
typedef CUresult (*ExFunction)(const void*, Handle, void**, void**);
typedef CUresult (*GraphFunction)(Handle, Handle);
typedef CUresult (*CapturingFunction)(Handle, int*);
typedef CUresult (*SynchronizeFunction)(void);

enum { kTurnNs = 20000000, kLongestRestNs = 2000000000 };

static uint64_t Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t Smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Waits until the share may work again; the accounting file is the pod's, so a wild value in it must not stop
// us.
static void Rest(uint64_t until, uint64_t now) {
  if (until <= now) return;
  uint64_t rest = Smaller(until - now, kLongestRestNs);
  struct timespec pause = {(time_t)(rest / 1000000000), (long)(rest % 1000000000)};
  nanosleep(&pause, NULL);
  ShareCount(kThrottledNs, (int64_t)rest);
}

// After a turn of work, all that is queued is waited for, so that the turn's length is the device's, not the
// queue's; then the share rests in proportion. What the program itself waits within a turn counts as work.
static void Pace(const ShimDevice* device) {
  static uint64_t turn_began[kShareDevices];
  uint64_t* blocked = ShareBlockedUntil(device->index);
  uint64_t* began = &turn_began[device->index];
  if (!blocked) return;
  uint64_t now = Now(), start = __atomic_load_n(began, __ATOMIC_RELAXED);
  if (start && now - start >= kTurnNs &&
      __atomic_compare_exchange_n(began, &start, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    TRUE_FUNCTION(cuCtxSynchronize, SynchronizeFunction)();
    now = Now();
    uint64_t rest =
        Smaller((now - start) * (100 - device->core_percent) / device->core_percent, kLongestRestNs);
    uint64_t old = __atomic_load_n(blocked, __ATOMIC_RELAXED), until;
    do {
      until = (old > now && old - now < kLongestRestNs ? old : now) + rest;
    } while (!__atomic_compare_exchange_n(blocked, &old, until, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  }
  Rest(__atomic_load_n(blocked, __ATOMIC_ACQUIRE), now);
  uint64_t none = 0;
  __atomic_compare_exchange_n(began, &none, Now(), 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void BeforeLaunch(Handle stream) {
  ShareCount(kLaunches, 1);
  if (!ShimAnyCoreLimit()) return;
  int capturing = 0;
  if (TRUE_FUNCTION(cuStreamIsCapturing, CapturingFunction)(stream, &capturing) == CUDA_SUCCESS && capturing)
    return;
  const ShimDevice* device = ShimDeviceOf(ShimCurrentOrdinal());
  if (device && device->index >= 0 && device->core_percent < 100) Pace(device);
}

#define KERNEL(name)                                                                                         \
  SHIM_EXPORT CUresult name(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,             \
                            unsigned by, unsigned bz, unsigned shared, Handle stream, void** parameters,     \
                            void** extra) {                                                                  \
    BeforeLaunch(stream);                                                                                    \
    return TRUE_FUNCTION(name, KernelFunction)(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, \
                                               extra);                                                       \
  }

#define COOPERATIVE(name)                                                                                  \
  SHIM_EXPORT CUresult name(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,           \
                            unsigned by, unsigned bz, unsigned shared, Handle stream, void** parameters) { \
    BeforeLaunch(stream);                                                                                  \
    return TRUE_FUNCTION(name, CooperativeFunction)(function, gx, gy, gz, bx, by, bz, shared, stream,      \
                                                    parameters);                                           \
  }

// CUlaunchConfig: six dimensions, shared bytes, then at byte 32 the stream.
#define KERNEL_EX(name)                                                                             \
  SHIM_EXPORT CUresult name(const void* config, Handle function, void** parameters, void** extra) { \
    BeforeLaunch(config ? *(const Handle*)((const char*)config + 32) : NULL);                       \
    return TRUE_FUNCTION(name, ExFunction)(config, function, parameters, extra);                    \
  }

#define GRAPH(name)                                           \
  SHIM_EXPORT CUresult name(Handle graph, Handle stream) {    \
    BeforeLaunch(stream);                                     \
    return TRUE_FUNCTION(name, GraphFunction)(graph, stream); \
  }

KERNEL(cuLaunchKernel)
KERNEL(cuLaunchKernel_ptsz)
COOPERATIVE(cuLaunchCooperativeKernel)
COOPERATIVE(cuLaunchCooperativeKernel_ptsz)
KERNEL_EX(cuLaunchKernelEx)
KERNEL_EX(cuLaunchKernelEx_ptsz)
GRAPH(cuGraphLaunch)
GRAPH(cuGraphLaunch_ptsz)
