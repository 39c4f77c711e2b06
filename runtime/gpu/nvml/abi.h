// NVML's binary interface as far as it is answered here: declared by hand, checked for size against the true
// one's.
#pragma once

#include <stdint.h>

#define NVML_EXPORT __attribute__((visibility("default")))

typedef enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;

typedef struct nvmlDevice_st* nvmlDevice_t;
typedef struct nvmlEventSet_st* nvmlEventSet_t;

typedef struct {
  uint64_t total, free, used;
} nvmlMemory_t;
typedef struct {
  unsigned version;
  uint64_t total, reserved, free, used;
} nvmlMemory_v2_t;
typedef struct {
  char busIdLegacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;
// What nvmlDeviceGetPciInfo wrote before its third version.
typedef struct {
  char busId[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
} PciInfoOld;
typedef struct {
  unsigned gpu, memory;
} nvmlUtilization_t;
typedef struct {
  unsigned pid;
  uint64_t usedGpuMemory;
} nvmlProcessInfo_v1_t;
typedef struct {
  unsigned pid;
  uint64_t usedGpuMemory;
  unsigned gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;
typedef struct {
  unsigned pid;
  uint64_t timeStamp;
  unsigned smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;
typedef struct {
  nvmlDevice_t device;
  uint64_t eventType, eventData;
  unsigned gpuInstanceId, computeInstanceId;
} nvmlEventData_t;
typedef struct {
  unsigned multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount,
      sharedJpegCount, sharedOfaCount, gpuInstanceSliceCount, computeInstanceSliceCount;
  uint64_t memorySizeMB;
} nvmlDeviceAttributes_t;
typedef struct {
  unsigned version, sensorType;
  int temperature;
} nvmlTemperature_t;
typedef struct {
  unsigned fieldId, scopeId;
  int64_t timestamp, latencyUsec;
  unsigned valueType, nvmlReturn;
  uint64_t value;
} nvmlFieldValue_t;

_Static_assert(sizeof(nvmlMemory_t) == 24 && sizeof(nvmlMemory_v2_t) == 40, "memory");
_Static_assert(sizeof(nvmlPciInfo_t) == 68 && sizeof(PciInfoOld) == 36, "pci");
_Static_assert(sizeof(nvmlUtilization_t) == 8 && sizeof(nvmlProcessInfo_t) == 24, "processes");
_Static_assert(sizeof(nvmlEventData_t) == 32 && sizeof(nvmlDeviceAttributes_t) == 40, "events, attributes");
_Static_assert(sizeof(nvmlProcessUtilizationSample_t) == 32 && sizeof(nvmlFieldValue_t) == 40, "samples");

// As nvml.h builds versions: the size, and the version in the highest byte.
#define NVML_VERSION_OF(type, number) ((unsigned)(sizeof(type) | ((unsigned)(number) << 24)))

enum {
  NVML_VALUE_TYPE_UNSIGNED_INT = 1,
  NVML_TEMPERATURE_GPU = 0,
  NVML_TOPOLOGY_INTERNAL = 0,
  NVML_TOPOLOGY_SINGLE = 10,
  NVML_TOPOLOGY_HOSTBRIDGE = 30,
  NVML_TOPOLOGY_NODE = 40,
  NVML_TOPOLOGY_SYSTEM = 50,
  NVML_P2P_CAPS_INDEX_NVLINK = 2,
  NVML_P2P_CAPS_INDEX_UNKNOWN = 5,
  NVML_P2P_STATUS_OK = 0,
  NVML_P2P_STATUS_NOT_SUPPORTED = 5,
  NVML_EVENT_DOUBLE_BIT_ECC = 2,
  NVML_EVENT_XID = 8,
};
