// A driver for the shim's tests: devices with so much memory, no computing. FAKE_CUDA_* sets what it does.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef void* Handle;
enum {
  kOk = 0,
  kInvalid = 1,
  kOutOfMemory = 2,
  kNoContext = 201,
  kNotFound = 500,
  kBlocks = 65536,
  kPitch = 512
};

typedef struct Block {
  uint64_t address, size;
  uint64_t context;  // 0: outlives contexts
  unsigned references, mappings;
} Block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Block blocks[kBlocks];
static unsigned block_count;
static uint64_t next_address = 0x700000000000, used;
static uint64_t next_context = 0x1000;
static _Thread_local uint64_t current;
static uint64_t primary;
static unsigned primary_count;
static uint64_t busy_until;
static unsigned requests;

static uint64_t Setting(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static Block* Find(uint64_t address) {
  for (unsigned i = 0; address && i < block_count; i++)
    if (blocks[i].address == address) return &blocks[i];
  return NULL;
}

static void Drop(Block* block) {
  used -= block->size;
  *block = blocks[--block_count];
}

static CUresult Give(CUdeviceptr* out, uint64_t size, uint64_t context) {
  if (!out || !size) return kInvalid;
  pthread_mutex_lock(&lock);
  uint64_t every = Setting("FAKE_CUDA_FAIL_EVERY", 0);
  int fails = every && ++requests % every == 0;
  CUresult result = kOutOfMemory;
  if (!fails && block_count < kBlocks && size <= Setting("FAKE_CUDA_MEMORY", 1 << 30) - used) {
    used += size;
    blocks[block_count++] = (Block){next_address, size, context, 1, 0};
    *out = next_address;
    next_address += (size + 0xfff) & ~UINT64_C(0xfff);
    result = kOk;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static CUresult Take(CUdeviceptr address) {
  pthread_mutex_lock(&lock);
  Block* block = Find(address);
  if (block) Drop(block);
  pthread_mutex_unlock(&lock);
  return block ? kOk : kInvalid;
}

CUresult cuInit(unsigned flags) { return (void)flags, (CUresult)Setting("FAKE_CUDA_INIT", 0); }
CUresult cuDriverGetVersion(int* version) { return version ? (*version = 13000, kOk) : kInvalid; }
CUresult cuDeviceGetCount(int* count) { return count ? (*count = 2, kOk) : kInvalid; }
CUresult cuDeviceGet(int* device, int ordinal) { return device ? (*device = ordinal, kOk) : kInvalid; }

// FAKE_CUDA_FIRST: as if CUDA_VISIBLE_DEVICES began with another device.
CUresult cuDeviceGetUuid_v2(unsigned char* uuid, int ordinal) {
  if (!uuid || ordinal < 0 || ordinal > 1) return kInvalid;
  memset(uuid, 0, 16);
  uuid[15] = (unsigned char)(ordinal + 1 + (int)Setting("FAKE_CUDA_FIRST", 0));
  return kOk;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, int ordinal) {
  return bytes && ordinal >= 0 && ordinal < 2 ? (*bytes = Setting("FAKE_CUDA_MEMORY", 1 << 30), kOk)
                                              : kInvalid;
}

CUresult cuCtxCreate_v2(Handle* context, unsigned flags, int ordinal) {
  (void)flags;
  if (!context || ordinal < 0 || ordinal > 1) return kInvalid;
  pthread_mutex_lock(&lock);
  current = next_context += 0x10;
  current |= (uint64_t)ordinal;
  pthread_mutex_unlock(&lock);
  *context = (Handle)current;
  return kOk;
}

static void Forget(uint64_t context) {
  for (unsigned i = 0; i < block_count;)
    if (blocks[i].context == context) Drop(&blocks[i]);
    else i++;
  if (current == context) current = 0;
}

CUresult cuCtxDestroy_v2(Handle context) {
  if (!context) return kInvalid;
  pthread_mutex_lock(&lock);
  Forget((uint64_t)context);
  pthread_mutex_unlock(&lock);
  return kOk;
}

CUresult cuDevicePrimaryCtxRetain(Handle* context, int ordinal) {
  if (!context || ordinal != 0) return kInvalid;
  pthread_mutex_lock(&lock);
  if (!primary_count++) primary = (next_context += 0x10);
  *context = (Handle)primary;
  pthread_mutex_unlock(&lock);
  return kOk;
}

CUresult cuDevicePrimaryCtxRelease_v2(int ordinal) {
  if (ordinal != 0) return kInvalid;
  pthread_mutex_lock(&lock);
  CUresult result = primary_count ? kOk : kInvalid;
  if (primary_count && !--primary_count) Forget(primary);
  pthread_mutex_unlock(&lock);
  return result;
}

CUresult cuDevicePrimaryCtxReset_v2(int ordinal) {
  if (ordinal != 0) return kInvalid;
  pthread_mutex_lock(&lock);
  if (primary) Forget(primary);
  primary_count = 0;
  pthread_mutex_unlock(&lock);
  return kOk;
}

CUresult cuDevicePrimaryCtxGetState(int ordinal, unsigned* flags, int* active) {
  if (ordinal != 0 || !flags || !active) return kInvalid;
  *flags = 0, *active = primary_count != 0;
  return kOk;
}

CUresult cuCtxSetCurrent(Handle context) { return current = (uint64_t)context, kOk; }
CUresult cuCtxGetCurrent(Handle* context) { return context ? (*context = (Handle)current, kOk) : kInvalid; }
CUresult cuCtxGetDevice(int* ordinal) {
  if (!ordinal) return kInvalid;
  return current ? (*ordinal = (int)(current & 1), kOk) : kNoContext;
}

CUresult cuCtxSynchronize(void) {
  uint64_t until = __atomic_load_n(&busy_until, __ATOMIC_ACQUIRE), now = Now();
  if (until > now) nanosleep(&(struct timespec){0, (long)(until - now)}, NULL);
  return kOk;
}

// CUDA 1's: sizes and pointers of 32 bits.
CUresult cuMemAlloc(unsigned* out, unsigned size) { return out && size ? (*out = 1, kOk) : kInvalid; }
CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t size) {
  return current ? Give(out, size, current) : kNoContext;
}
CUresult cuMemAllocManaged(CUdeviceptr* out, size_t size, unsigned flags) {
  return (void)flags, cuMemAlloc_v2(out, size);
}
CUresult cuMemAllocPitch_v2(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  (void)element;
  if (!pitch) return kInvalid;
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cuMemAlloc_v2(out, *pitch * height);
}
CUresult cuMemAllocAsync(CUdeviceptr* out, size_t size, Handle stream) {
  return (void)stream, Give(out, size, 0);
}
CUresult cuMemAllocAsync_ptsz(CUdeviceptr* out, size_t size, Handle stream) {
  return cuMemAllocAsync(out, size, stream);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size, Handle pool, Handle stream) {
  return pool ? cuMemAllocAsync(out, size, stream) : kInvalid;
}
CUresult cuMemPoolCreate(Handle* pool, const int* properties) {
  return pool && properties ? (*pool = (Handle)(uintptr_t)(0x9000 + properties[2] * 16 + properties[3]), kOk)
                            : kInvalid;
}
CUresult cuDeviceGetDefaultMemPool(Handle* pool, int ordinal) {
  return pool ? (*pool = (Handle)(uintptr_t)(0x8000 + ordinal), kOk) : kInvalid;
}
CUresult cuMemFree_v2(CUdeviceptr address) { return address ? Take(address) : kOk; }
CUresult cuMemFreeAsync(CUdeviceptr address, Handle stream) { return (void)stream, Take(address); }
CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, Handle stream) { return cuMemFreeAsync(address, stream); }

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  if (!current) return kNoContext;
  *total = Setting("FAKE_CUDA_MEMORY", 1 << 30);  // like the real one before it learned about NULL
  *free_bytes = *total - used;
  return kOk;
}

CUresult cuMemCreate(uint64_t* handle, size_t size, const int* properties, uint64_t flags) {
  (void)flags;
  if (!properties) return kInvalid;
  return Give(handle, properties[2] == 1 ? size : 1, 0);
}

static CUresult Count(uint64_t handle, int references, int mappings) {
  pthread_mutex_lock(&lock);
  Block* block = Find(handle);
  CUresult result = block && (references >= 0 || block->references) ? kOk : kInvalid;
  if (!result) {
    block->references += (unsigned)references, block->mappings += (unsigned)mappings;
    if (!block->references && !block->mappings) Drop(block);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static uint64_t mapped[64][2];  // address, handle

CUresult cuMemRelease(uint64_t handle) { return Count(handle, -1, 0); }
CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, uint64_t handle, uint64_t flags) {
  (void)size, (void)offset, (void)flags;
  CUresult result = address ? Count(handle, 0, 1) : kInvalid;
  for (unsigned i = 0; !result && i < 64; i++)
    if (!mapped[i][0]) return mapped[i][0] = address, mapped[i][1] = handle, kOk;
  return result;
}
CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  CUresult result = kInvalid;
  for (unsigned i = 0; i < 64; i++)
    if (mapped[i][0] && mapped[i][0] - address < size) mapped[i][0] = 0, result = Count(mapped[i][1], 0, -1);
  return result;
}
CUresult cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  for (unsigned i = 0; handle && i < 64; i++)
    if (mapped[i][0] && mapped[i][0] == (uint64_t)address)
      return *handle = mapped[i][1], Count(*handle, 1, 0);
  return kInvalid;
}

CUresult cuArrayCreate_v2(Handle* array, const size_t* form) {
  return form && current ? Give((CUdeviceptr*)array, form[0], current) : kInvalid;
}
CUresult cuArray3DCreate_v2(Handle* array, const size_t* form) { return cuArrayCreate_v2(array, form); }
CUresult cuArrayDestroy(Handle array) { return Take((uint64_t)array); }
CUresult cuMipmappedArrayCreate(Handle* array, const size_t* form, unsigned levels) {
  return levels ? cuArrayCreate_v2(array, form) : kInvalid;
}
CUresult cuMipmappedArrayDestroy(Handle array) { return Take((uint64_t)array); }

CUresult cuLaunchKernel(Handle f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g,
                        unsigned shared, Handle stream, void** parameters, void** extra) {
  (void)f, (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)shared, (void)stream, (void)extra;
  if (parameters) *(unsigned*)parameters[0] = a;  // the test sees that eleven arguments came through
  uint64_t now = Now(), cost = Setting("FAKE_CUDA_KERNEL_NS", 0);
  if (busy_until < now) busy_until = now;
  busy_until += cost;
  return kOk;
}

// Floats and many integers, to see that a first call through a trampoline keeps all registers.
CUresult cuParamSetf(Handle f, int offset, float value) {
  return f == (Handle)7 && offset == 3 && value == 2.5f ? kOk : kInvalid;
}

CUresult cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t flags, int* status) {
  char versioned[128];
  if (!name || !out) return kInvalid;
  void* self = dlopen(getenv("TFEMU_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  *out = NULL;
  snprintf(versioned, sizeof versioned, "%s%s", name, flags & 2 ? "_ptsz" : "");
  if (flags & 2) *out = dlsym(self, versioned);
  snprintf(versioned, sizeof versioned, "%s_v2", name);
  if (!*out && version >= 3020) *out = dlsym(self, versioned);
  if (!*out) *out = dlsym(self, name);
  if (status) *status = *out ? 0 : 1;
  return *out ? kOk : kNotFound;
}

CUresult cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, NULL);
}
