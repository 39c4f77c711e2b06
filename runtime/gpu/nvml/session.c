// Init and shutdown, reading the devices file again when it changed, and handles.
#include "runtime/gpu/nvml/session.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/gpu/nvml/exports.h"
#include "runtime/gpu/reader/old_libc.h"

enum { kHandles = 256, kLookAgainMs = 100 };

struct nvmlDevice_st {
  char uuid[kGpuTextSize];
};

static struct {
  pthread_mutex_t lock;
  unsigned inits;
  GpuReadResult state;
  GpuList list;
  struct nvmlDevice_st handles[kHandles];
  unsigned handle_count;
  struct stat seen;
  int64_t looked_ms;
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t NowMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int SameFile(const struct stat* a, const struct stat* b) {
  return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void Refresh(int at_once) {
  int64_t now = NowMs();
  if (!at_once && now - session.looked_ms < kLookAgainMs) return;
  session.looked_ms = now;
  struct stat found = {0};
  if (FileStatus(GpuDevicesPath(), &found) != 0) {
    session.state = kGpuMissing;
    session.seen = (struct stat){0};
    return;
  }
  if (session.state != kGpuMissing && SameFile(&found, &session.seen)) return;
  session.state = GpuReadFile(GpuDevicesPath(), &session.list);
  session.seen = found;
}

nvmlReturn_t nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  pthread_mutex_lock(&session.lock);
  if (!session.inits) session.state = kGpuMissing;
  Refresh(!session.inits);
  nvmlReturn_t result = session.state == kGpuRead ? NVML_SUCCESS : NVML_ERROR_DRIVER_NOT_LOADED;
  if (!result) session.inits++;
  pthread_mutex_unlock(&session.lock);
  return result;
}

nvmlReturn_t nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlInit(void) { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown(void) {
  pthread_mutex_lock(&session.lock);
  nvmlReturn_t result = session.inits ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
  if (session.inits) session.inits--;
  pthread_mutex_unlock(&session.lock);
  return result;
}

nvmlReturn_t NvmlUnsupported(void) {
  pthread_mutex_lock(&session.lock);
  nvmlReturn_t result = session.inits ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_UNINITIALIZED;
  pthread_mutex_unlock(&session.lock);
  return result;
}

nvmlReturn_t SessionLeave(nvmlReturn_t result) {
  pthread_mutex_unlock(&session.lock);
  return result;
}

nvmlReturn_t SessionEnter(const GpuList** list) {
  pthread_mutex_lock(&session.lock);
  if (!session.inits) return SessionLeave(NVML_ERROR_UNINITIALIZED);
  Refresh(0);
  if (session.state != kGpuRead) return SessionLeave(NVML_ERROR_DRIVER_NOT_LOADED);
  *list = &session.list;
  return NVML_SUCCESS;
}

static int IsHandle(nvmlDevice_t handle) {
  uintptr_t offset = (uintptr_t)handle - (uintptr_t)session.handles;
  return offset < session.handle_count * sizeof *handle && offset % sizeof *handle == 0;
}

const GpuDevice* SessionDevice(nvmlDevice_t handle) {
  for (unsigned i = 0; IsHandle(handle) && i < session.list.device_count; i++)
    if (!strcmp(session.list.devices[i].uuid, handle->uuid)) return &session.list.devices[i];
  return NULL;
}

nvmlReturn_t SessionEnterIdentity(nvmlDevice_t handle, const GpuList** list, const GpuDevice** device) {
  RETURN_IF_FAILED(SessionEnter(list));
  if (!IsHandle(handle)) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *device = SessionDevice(handle);
  return *device ? NVML_SUCCESS : SessionLeave(NVML_ERROR_GPU_IS_LOST);
}

nvmlReturn_t SessionEnterDevice(nvmlDevice_t handle, const GpuList** list, const GpuDevice** device) {
  RETURN_IF_FAILED(SessionEnterIdentity(handle, list, device));
  return (*device)->health == kGpuLost ? SessionLeave(NVML_ERROR_GPU_IS_LOST) : NVML_SUCCESS;
}

nvmlReturn_t SessionHandle(const GpuDevice* device, nvmlDevice_t* handle) {
  for (unsigned i = 0; i < session.handle_count; i++) {
    if (strcmp(session.handles[i].uuid, device->uuid) != 0) continue;
    *handle = &session.handles[i];
    return NVML_SUCCESS;
  }
  if (session.handle_count == kHandles) return NVML_ERROR_MEMORY;
  *handle = &session.handles[session.handle_count++];
  memcpy((*handle)->uuid, device->uuid, sizeof device->uuid);
  return NVML_SUCCESS;
}

nvmlReturn_t CopyText(char* out, unsigned length, const char* text) {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  size_t size = strlen(text) + 1;
  if (size > length) return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(out, text, size);
  return NVML_SUCCESS;
}
