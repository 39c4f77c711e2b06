// Links between devices, and MIG instances.
#include <string.h>

#include "runtime/gpu/nvml/exports.h"
#include "runtime/gpu/nvml/session.h"

// The device at the other end of a link: links are numbered through, in the order of the lines.
static const GpuDevice* Peer(const GpuList* list, const GpuDevice* device, unsigned link) {
  for (unsigned i = 0; i < list->device_count; i++) {
    if (link < device->links[i]) return &list->devices[i];
    link -= device->links[i];
  }
  return NULL;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t handle, unsigned link, unsigned* is_active) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!is_active || link >= 18) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  if (!Peer(list, device, 0)) return SessionLeave(NVML_ERROR_NOT_SUPPORTED);
  *is_active = Peer(list, device, link) != NULL;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t handle, unsigned link, unsigned capability,
                                           unsigned* out) {
  if (!out || capability > 5) return NVML_ERROR_INVALID_ARGUMENT;
  RETURN_IF_FAILED(nvmlDeviceGetNvLinkState(handle, link, out));
  *out = *out && capability == 0;  // P2P
  return NVML_SUCCESS;
}

static nvmlReturn_t RemoteBusId(nvmlDevice_t handle, unsigned link, GpuDevice* out) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  const GpuDevice* peer = link < 18 ? Peer(list, device, link) : NULL;
  if (!peer) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *out = *peer;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t handle, unsigned link, nvmlPciInfo_t* pci) {
  GpuDevice peer;
  if (!pci) return NVML_ERROR_INVALID_ARGUMENT;
  RETURN_IF_FAILED(RemoteBusId(handle, link, &peer));
  memset(pci, 0, sizeof *pci);
  pci->domain = peer.pci_domain, pci->bus = peer.pci_bus, pci->device = peer.pci_device;
  GpuBusId(&peer, pci->busId, sizeof pci->busId);
  memcpy(pci->busIdLegacy, pci->busId + 4, 12);
  return NVML_SUCCESS;
}

// Both devices of a question; what is given is good until SessionLeave.
static nvmlReturn_t EnterPair(nvmlDevice_t one, nvmlDevice_t two, const GpuDevice** a, const GpuDevice** b) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnterDevice(one, &list, a));
  *b = SessionDevice(two);
  return *b ? NVML_SUCCESS : SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t two, unsigned capability,
                                    unsigned* status) {
  const GpuDevice *a, *b;
  RETURN_IF_FAILED(EnterPair(one, two, &a, &b));
  if (!status || capability >= NVML_P2P_CAPS_INDEX_UNKNOWN) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *status = a != b && a->links[b->index] ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
  return SessionLeave(NVML_SUCCESS);
}

static unsigned Ancestor(const GpuDevice* a, const GpuDevice* b) {
  if (a == b) return NVML_TOPOLOGY_INTERNAL;
  if (a->numa != b->numa) return NVML_TOPOLOGY_SYSTEM;
  return a->pci_domain == b->pci_domain && a->pci_bus == b->pci_bus ? NVML_TOPOLOGY_HOSTBRIDGE
                                                                    : NVML_TOPOLOGY_NODE;
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t two, unsigned* level) {
  const GpuDevice *a, *b;
  RETURN_IF_FAILED(EnterPair(one, two, &a, &b));
  if (!level) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *level = Ancestor(a, b);
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t one, nvmlDevice_t two, int* same) {
  const GpuDevice *a, *b;
  RETURN_IF_FAILED(EnterPair(one, two, &a, &b));
  if (!same) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *same = a == b;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t handle, unsigned level, unsigned* count,
                                              nvmlDevice_t* nearest) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!count) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  unsigned room = *count, found = 0;
  for (unsigned i = 0; i < list->device_count; i++) {
    const GpuDevice* other = &list->devices[i];
    if (other == device || *other->parent || Ancestor(device, other) != level) continue;
    if (nearest && found < room && SessionHandle(other, &nearest[found]))
      return SessionLeave(NVML_ERROR_MEMORY);
    found++;
  }
  *count = nearest && found > room ? room : found;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned* current, unsigned* pending) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!current || !pending) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  if (!device->mig_enabled) return SessionLeave(NVML_ERROR_NOT_SUPPORTED);
  *current = *pending = 1;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned* count) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!count) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *count = device->mig_enabled ? 7 : 0;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t handle, unsigned index,
                                                 nvmlDevice_t* instance) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!instance) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  for (unsigned i = 0; i < list->device_count; i++)
    if (!strcmp(list->devices[i].parent, device->uuid) && !index--)
      return SessionLeave(SessionHandle(&list->devices[i], instance));
  return SessionLeave(NVML_ERROR_NOT_FOUND);
}

// A MIG instance's own line.
static nvmlReturn_t EnterInstance(nvmlDevice_t handle, const GpuList** list, const GpuDevice** device) {
  RETURN_IF_FAILED(SessionEnterDevice(handle, list, device));
  return *(*device)->parent ? NVML_SUCCESS : SessionLeave(NVML_ERROR_NOT_SUPPORTED);
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance, nvmlDevice_t* handle) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(EnterInstance(instance, &list, &device));
  if (!handle) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  for (unsigned i = 0; i < list->device_count; i++)
    if (!strcmp(list->devices[i].uuid, device->parent))
      return SessionLeave(SessionHandle(&list->devices[i], handle));
  return SessionLeave(NVML_ERROR_NOT_FOUND);
}

static nvmlReturn_t InstanceId(nvmlDevice_t handle, int compute, unsigned* id) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(EnterInstance(handle, &list, &device));
  if (!id) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *id = compute ? device->compute_instance : device->gpu_instance;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t handle, unsigned* id) {
  return InstanceId(handle, 0, id);
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t handle, unsigned* id) {
  return InstanceId(handle, 1, id);
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t handle, nvmlDeviceAttributes_t* attributes) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(EnterInstance(handle, &list, &device));
  if (!attributes) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  unsigned slices =
      device->profile[0] >= '1' && device->profile[0] <= '7' ? (unsigned)(device->profile[0] - '0') : 1;
  *attributes = (nvmlDeviceAttributes_t){.gpuInstanceSliceCount = slices,
                                         .computeInstanceSliceCount = slices,
                                         .memorySizeMB = device->memory_bytes >> 20};
  return SessionLeave(NVML_SUCCESS);
}
