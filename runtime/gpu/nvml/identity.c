// What a device is: names, ids, places, capabilities.
#include <stdio.h>
#include <string.h>

#include "runtime/gpu/nvml/exports.h"
#include "runtime/gpu/nvml/session.h"

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* name, unsigned length) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (device->profile[0] == 0) return SessionLeave(CopyText(name, length, device->name));
  char instance[sizeof device->name + sizeof device->profile + 8];
  snprintf(instance, sizeof instance, "%s MIG %s", device->name, device->profile);
  return SessionLeave(CopyText(name, length, instance));
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* uuid, unsigned length) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterIdentity(handle, &list, &device));
  return SessionLeave(CopyText(uuid, length, device->uuid));
}

// Answers with one number of a device.
#define GIVE(handle, out, enter, value)                           \
  do {                                                            \
    const GpuList* list;                                          \
    const GpuDevice* device;                                      \
    RETURN_IF_FAILED(enter(handle, &list, &device));              \
    if (!(out)) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT); \
    *(out) = (value);                                             \
    return SessionLeave(NVML_SUCCESS);                            \
  } while (0)

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned* index) {
  GIVE(handle, index, SessionEnterIdentity, GpuPhysicalRank(list, device));
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t handle, unsigned* minor) {
  GIVE(handle, minor, SessionEnterIdentity, device->minor);
}

nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t handle, unsigned* id) {
  GIVE(handle, id, SessionEnterDevice,
       (device->pci_domain << 16) | (device->pci_bus << 8) | device->pci_device);
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t handle, unsigned* is_multi) {
  GIVE(handle, is_multi, SessionEnterDevice, 0);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t handle, unsigned* brand) {
  GIVE(handle, brand, SessionEnterDevice, 14);  // NVML_BRAND_NVIDIA
}

nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t handle, unsigned* node) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!node) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  if (device->numa < 0) return SessionLeave(NVML_ERROR_NOT_SUPPORTED);
  *node = (unsigned)device->numa;
  return SessionLeave(NVML_SUCCESS);
}

static unsigned Architecture(unsigned major, unsigned minor) {
  switch (major) {
    case 3: return 2;
    case 5: return 3;
    case 6: return 4;
    case 7: return minor >= 5 ? 6 : 5;
    case 8: return minor >= 9 ? 8 : 7;
    case 9: return 9;
    case 10:
    case 12: return 10;
    default: return ~0u;
  }
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t handle, unsigned* architecture) {
  GIVE(handle, architecture, SessionEnterDevice, Architecture(device->sm_major, device->sm_minor));
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major, int* minor) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!major || !minor) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *major = (int)device->sm_major, *minor = (int)device->sm_minor;
  return SessionLeave(NVML_SUCCESS);
}

static void FillPci(const GpuDevice* device, nvmlPciInfo_t* pci) {
  memset(pci, 0, sizeof *pci);
  pci->domain = device->pci_domain, pci->bus = device->pci_bus, pci->device = device->pci_device;
  snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", device->pci_domain & 0xffff,
           device->pci_bus & 0xff, device->pci_device & 0xff);
  GpuBusId(device, pci->busId, sizeof pci->busId);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* pci) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterIdentity(handle, &list, &device));
  if (!pci) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  FillPci(device, pci);
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t handle, PciInfoOld* pci) {
  nvmlPciInfo_t full;
  if (!pci) return NVML_ERROR_INVALID_ARGUMENT;
  RETURN_IF_FAILED(nvmlDeviceGetPciInfo_v3(handle, &full));
  memcpy(pci->busId, full.busIdLegacy, sizeof pci->busId);
  pci->domain = full.domain, pci->bus = full.bus, pci->device = full.device;
  pci->pciDeviceId = pci->pciSubSystemId = 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t handle, PciInfoOld* pci) {
  return nvmlDeviceGetPciInfo(handle, pci);
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, unsigned* mode) {
  GIVE(handle, mode, SessionEnterDevice, 0);
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t handle, unsigned* mode) {
  GIVE(handle, mode, SessionEnterDevice, 1);
}

nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t handle, unsigned* mode) {
  GIVE(handle, mode, SessionEnterDevice, 0);
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t handle, unsigned* active) {
  GIVE(handle, active, SessionEnterDevice, 0);
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t handle, unsigned* is_mig) {
  GIVE(handle, is_mig, SessionEnterIdentity, *device->parent != 0);
}
