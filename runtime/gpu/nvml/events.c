// Event sets: a device's health becoming an Xid or an ECC error in the devices file is an event, told once a
// set.
#include <stdlib.h>
#include <time.h>

#include "runtime/gpu/nvml/exports.h"
#include "runtime/gpu/nvml/session.h"

enum { kWatched = TFEMU_GPU_MAX_DEVICES, kLookEveryMs = 100 };

struct nvmlEventSet_st {
  unsigned count;
  struct {
    nvmlDevice_t device;
    uint64_t types;
    GpuHealth told;
    unsigned told_xid;
  } watched[kWatched];
};

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  if (!set) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *set = calloc(1, sizeof **set);
  return SessionLeave(*set ? NVML_SUCCESS : NVML_ERROR_MEMORY);
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
  if (!set) return NVML_ERROR_INVALID_ARGUMENT;
  free(set);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t handle, uint64_t* types) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!types) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *types = NVML_EVENT_XID | NVML_EVENT_DOUBLE_BIT_ECC;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t handle, uint64_t types, nvmlEventSet_t set) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!set || set->count == kWatched) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  set->watched[set->count].device = handle;
  set->watched[set->count].types = types;
  set->watched[set->count].told = device->health;
  set->watched[set->count++].told_xid = device->xid;
  return SessionLeave(NVML_SUCCESS);
}

// NVML_SUCCESS with an event in `data`, NVML_ERROR_TIMEOUT when nothing has happened yet.
static nvmlReturn_t Look(nvmlEventSet_t set, nvmlEventData_t* data) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  for (unsigned i = 0; i < set->count; i++) {
    const GpuDevice* device = SessionDevice(set->watched[i].device);
    GpuHealth health = device ? device->health : kGpuLost;
    unsigned xid = device && health == kGpuXid ? device->xid
                   : health == kGpuLost        ? 79
                   : health == kGpuEcc         ? 48
                                               : 0;
    if (health == set->watched[i].told && xid == set->watched[i].told_xid) continue;
    set->watched[i].told = health;
    set->watched[i].told_xid = xid;
    if (health == kGpuHealthy || !(set->watched[i].types & NVML_EVENT_XID)) continue;
    *data = (nvmlEventData_t){.device = set->watched[i].device,
                              .eventType = NVML_EVENT_XID,
                              .eventData = xid,
                              .gpuInstanceId = ~0u,
                              .computeInstanceId = ~0u};
    return SessionLeave(NVML_SUCCESS);
  }
  return SessionLeave(NVML_ERROR_TIMEOUT);
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned timeout_ms) {
  if (!set || !data) return NVML_ERROR_INVALID_ARGUMENT;
  for (;;) {
    nvmlReturn_t result = Look(set, data);
    if (result != NVML_ERROR_TIMEOUT || !timeout_ms) return result;
    unsigned step = timeout_ms < kLookEveryMs ? timeout_ms : kLookEveryMs;
    struct timespec pause = {0, (long)step * 1000000};
    nanosleep(&pause, NULL);
    timeout_ms -= step;
  }
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data, unsigned timeout_ms) {
  return nvmlEventSetWait_v2(set, data, timeout_ms);
}
