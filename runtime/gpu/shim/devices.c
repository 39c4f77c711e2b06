// Reads the limits of the environment, and knows devices by their UUIDs.
#include "runtime/gpu/shim/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/gpu/contract.h"
#include "runtime/gpu/shim/accounting.h"
#include "runtime/gpu/shim/driver.h"

enum { kOrdinals = 64, kUuidBytes = 16 };

typedef CUresult (*GetCurrent)(int*);
typedef CUresult (*GetUuid)(unsigned char*, int);

static int Hex(char digit) {
  const char* found = digit ? strchr("0123456789abcdef", digit | 0x20) : NULL;
  return found ? (int)(found - "0123456789abcdef") : -1;
}

// The 16 bytes of "GPU-xxxxxxxx-xxxx-..." or "MIG-..."; 0: it is not of this form.
static int ReadUuid(const char* text, const char* end, unsigned char out[kUuidBytes]) {
  if (end - text < 4 || (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0)) return 0;
  int digits = 0;
  memset(out, 0, kUuidBytes);
  for (text += 4; text < end; text++) {
    int digit = Hex(*text);
    if (*text == '-') continue;
    if (digit < 0 || digits == 2 * kUuidBytes) return 0;
    out[digits / 2] = (unsigned char)(out[digits / 2] << 4 | digit);
    digits++;
  }
  return digits == 2 * kUuidBytes;
}

static void Complain(const char* variable, const char* entry, int length) {
  fprintf(stderr, "tfemu: %s: cannot read \"%.*s\": taken as no limit\n", variable, length, entry);
}

// The entry of a list for the device with this position and UUID; 0: there is none.
static uint64_t ReadLimit(const char* variable, int ordinal, const unsigned char* uuid) {
  const char* entry = getenv(variable);
  for (int position = 0; entry && *entry; position++) {
    const char* end = entry + strcspn(entry, ",");
    const char* equals = memchr(entry, '=', (size_t)(end - entry));
    const char* number = equals ? equals + 1 : entry;
    unsigned char named[kUuidBytes];
    int sound = !equals || ReadUuid(entry, equals, named);
    int meant = equals ? sound && !memcmp(named, uuid, kUuidBytes) : position == ordinal;
    char* rest = NULL;
    uint64_t value = *number >= '0' && *number <= '9' ? strtoull(number, &rest, 10) : 0;
    if (!sound || (number != end && rest != end)) Complain(variable, entry, (int)(end - entry));
    else if (meant) return value;
    entry = *end ? end + 1 : end;
  }
  return 0;
}

static uint64_t Key(const unsigned char* uuid) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (int i = 0; i < kUuidBytes; i++) hash = (hash ^ uuid[i]) * UINT64_C(1099511628211);
  return hash | 1;
}

static int Uuid(int ordinal, unsigned char* uuid) {
  GetUuid get = TRUE_FUNCTION(cuDeviceGetUuid_v2, GetUuid);
  if (get(uuid, ordinal) == CUDA_SUCCESS) return 1;
  get = TRUE_FUNCTION(cuDeviceGetUuid, GetUuid);
  return get(uuid, ordinal) == CUDA_SUCCESS;
}

const ShimDevice* ShimDeviceOf(int ordinal) {
  static ShimDevice devices[kOrdinals];
  if (ordinal < 0 || ordinal >= kOrdinals) return NULL;
  ShimDevice* device = &devices[ordinal];
  if (__atomic_load_n(&device->ready, __ATOMIC_ACQUIRE)) return device;
  unsigned char uuid[kUuidBytes] = {0};
  if (!Uuid(ordinal, uuid)) return NULL;
  // Two threads may do this at once: both write the same.
  uint64_t core = ReadLimit(TFEMU_GPU_CORE_LIMIT_VARIABLE, ordinal, uuid);
  device->index = ShareDeviceIndex(Key(uuid));
  device->memory_limit = ReadLimit(TFEMU_GPU_MEMORY_LIMIT_VARIABLE, ordinal, uuid);
  device->core_percent = core && core < 100 ? (unsigned)core : 100;
  __atomic_store_n(&device->ready, 1, __ATOMIC_RELEASE);
  return device;
}

int ShimCurrentOrdinal(void) {
  int ordinal = -1;
  GetCurrent get = TRUE_FUNCTION(cuCtxGetDevice, GetCurrent);
  return get(&ordinal) == CUDA_SUCCESS ? ordinal : -1;
}

int ShimAnyCoreLimit(void) {
  static int known;  // 1: no, 2: yes
  int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (!answer) {
    const char* text = getenv(TFEMU_GPU_CORE_LIMIT_VARIABLE);
    answer = text && *text ? 2 : 1;
    __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
  }
  return answer == 2;
}

int ShimReserve(int ordinal, uint64_t bytes) {
  const ShimDevice* device = ShimDeviceOf(ordinal);
  return !device || device->index < 0 || ShareTryCharge(device->index, bytes, device->memory_limit);
}

void ShimGiveBack(int ordinal, uint64_t bytes) {
  const ShimDevice* device = ShimDeviceOf(ordinal);
  if (device && device->index >= 0) ShareRelease(device->index, bytes);
}
