// The devices file (contract.h) as structs; shared by the NVML library and nvidia-smi, without any state.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/gpu/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { kGpuTextSize = 96, kGpuNameSize = 64, kGpuProcessNameSize = 128 };

typedef enum { kGpuHealthy, kGpuLost, kGpuEcc, kGpuXid } GpuHealth;

typedef struct GpuDevice {
  char uuid[kGpuTextSize];
  char name[kGpuNameSize];  // with the mark of a virtual one
  char model[kGpuNameSize];
  char driver[32];
  char cuda[16];
  char parent[kGpuTextSize];  // not empty: a MIG instance
  char profile[32];
  unsigned index, minor;
  unsigned pci_domain, pci_bus, pci_device, pci_function;
  unsigned sm_major, sm_minor;
  uint64_t memory_bytes, used_bytes;
  unsigned utilization, memory_utilization;
  unsigned power_w, power_limit_w, temperature_c;
  int numa;
  int is_virtual, mig_enabled;
  unsigned gpu_instance, compute_instance;
  GpuHealth health;
  unsigned xid;
  unsigned char links[TFEMU_GPU_MAX_DEVICES];  // NVLinks to the line with that index
} GpuDevice;

typedef struct GpuProcess {
  unsigned index;
  uint32_t pid;
  char type;  // 'C' or 'G'
  char name[kGpuProcessNameSize];
  uint64_t used_bytes;
  unsigned utilization;
  int has_utilization;
} GpuProcess;

typedef struct GpuList {
  unsigned device_count, process_count;
  GpuDevice devices[TFEMU_GPU_MAX_DEVICES];
  GpuProcess processes[TFEMU_GPU_MAX_PROCESSES];
} GpuList;

typedef enum { kGpuRead, kGpuMissing, kGpuBroken } GpuReadResult;

// The path to read: the variable's, else the contract's.
const char* GpuDevicesPath(void);

// `text` ends with a NUL and is cut into pieces. Whatever it holds, `list` is sound afterwards.
GpuReadResult GpuParse(char* text, GpuList* list);
GpuReadResult GpuReadFile(const char* path, GpuList* list);

// Number of the devices that are not MIG instances, and their n-th (NULL: there are not so many).
unsigned GpuPhysicalCount(const GpuList* list);
const GpuDevice* GpuPhysical(const GpuList* list, unsigned n);
unsigned GpuPhysicalRank(const GpuList* list, const GpuDevice* device);

// "00000000:00:1E.0"
void GpuBusId(const GpuDevice* device, char* out, size_t size);
// A bus id as users write it: with or without domain, any case.
int GpuHasBusId(const GpuDevice* device, const char* text);
unsigned GpuProcessUtilization(const GpuList* list, const GpuDevice* device, const GpuProcess* process);

#ifdef __cplusplus
}
#endif
