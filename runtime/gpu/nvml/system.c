// The nvmlSystem and nvmlUnit functions, error texts, and how devices are found.
#include <stdio.h>
#include <string.h>

#include "runtime/gpu/nvml/exports.h"
#include "runtime/gpu/nvml/session.h"

const char* nvmlErrorString(nvmlReturn_t result) {
  static const char* const texts[] = {"Success",
                                      "Uninitialized",
                                      "Invalid Argument",
                                      "Not Supported",
                                      "Insufficient Permissions",
                                      "Already Initialized",
                                      "Not Found",
                                      "Insufficient Size",
                                      "Insufficient External Power",
                                      "Driver Not Loaded",
                                      "Timeout",
                                      "Interrupt Request Issue",
                                      "NVML Shared Library Not Found",
                                      "Function Not Found",
                                      "Corrupted infoROM",
                                      "GPU is lost",
                                      "GPU requires reset",
                                      "The operating system has blocked the request",
                                      "RM has detected an NVML/RM version mismatch.",
                                      "In use by another client",
                                      "Insufficient Memory",
                                      "No data",
                                      "The requested vgpu operation is not available because ECC is enabled",
                                      "Insufficient Resources",
                                      "Frequency Not Supported",
                                      "Argument version mismatch"};
  if ((unsigned)result < sizeof texts / sizeof *texts) return texts[result];
  return result == NVML_ERROR_UNKNOWN ? "Unknown Error" : "Unknown Error (not known to the emulated NVML)";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  const char* text = list->device_count && *list->devices[0].driver ? list->devices[0].driver : "0.0";
  return SessionLeave(CopyText(version, length, text));
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  char text[48];
  snprintf(text, sizeof text, "12.%.40s", list->device_count ? list->devices[0].driver : "0.0");
  return SessionLeave(CopyText(version, length, text));
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  int major = 0, minor = 0;
  if (list->device_count) sscanf(list->devices[0].cuda, "%4d.%4d", &major, &minor);
  if (!version) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *version = major * 1000 + minor * 10;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  for (unsigned i = 0; i < list->process_count; i++) {
    if (list->processes[i].pid != pid) continue;
    if (!name || !length) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
    snprintf(name, length, "%s", list->processes[i].name);  // NVML cuts a name as well
    return SessionLeave(NVML_SUCCESS);
  }
  return SessionLeave(NVML_ERROR_NOT_FOUND);
}

static nvmlReturn_t NoUnits(unsigned* count) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  if (count) *count = 0;
  return SessionLeave(count ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlUnitGetCount(unsigned* count) { return NoUnits(count); }

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned* count) { return NoUnits(count); }

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  if (count) *count = GpuPhysicalCount(list);
  return SessionLeave(count ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

static nvmlReturn_t Give(const GpuDevice* device, nvmlDevice_t* handle, nvmlReturn_t otherwise) {
  if (!handle) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  if (!device) return SessionLeave(otherwise);
  if (device->health == kGpuLost) return SessionLeave(NVML_ERROR_GPU_IS_LOST);
  return SessionLeave(SessionHandle(device, handle));
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* handle) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  return Give(GpuPhysical(list, index), handle, NVML_ERROR_INVALID_ARGUMENT);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* handle) {
  return nvmlDeviceGetHandleByIndex_v2(index, handle);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* handle) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  if (!uuid) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  const GpuDevice* found = NULL;
  for (unsigned i = 0; i < list->device_count && !found; i++)
    if (!strcmp(list->devices[i].uuid, uuid)) found = &list->devices[i];
  return Give(found, handle, NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* handle) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  if (!bus_id) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  const GpuDevice* found = NULL;
  for (unsigned i = 0; i < list->device_count && !found; i++)
    if (!*list->devices[i].parent && GpuHasBusId(&list->devices[i], bus_id)) found = &list->devices[i];
  return Give(found, handle, NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* handle) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, handle);
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* handle) {
  const GpuList* list;
  RETURN_IF_FAILED(SessionEnter(&list));
  return Give(NULL, handle, serial ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT);
}
