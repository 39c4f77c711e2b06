// Who holds a device. Process ids are those of the pod's namespace.
#include <time.h>

#include "runtime/gpu/nvml/exports.h"
#include "runtime/gpu/nvml/session.h"

// Counts the processes of one type that a device has; those of its MIG instances are the instances' own.
static unsigned Count(const GpuList* list, const GpuDevice* device, char type) {
  unsigned count = 0;
  for (unsigned i = 0; i < list->process_count; i++)
    count += list->processes[i].index == device->index && list->processes[i].type == type;
  return count;
}

static nvmlReturn_t Processes(nvmlDevice_t handle, char type, unsigned* count, nvmlProcessInfo_t* out) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!count) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  unsigned room = *count;
  *count = Count(list, device, type);
  if (*count > room) return SessionLeave(NVML_ERROR_INSUFFICIENT_SIZE);
  if (*count && !out) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  int is_instance = *device->parent != 0;
  for (unsigned i = 0; i < list->process_count; i++) {
    const GpuProcess* process = &list->processes[i];
    if (process->index != device->index || process->type != type) continue;
    *out++ = (nvmlProcessInfo_t){.pid = process->pid,
                                 .usedGpuMemory = process->used_bytes,
                                 .gpuInstanceId = is_instance ? device->gpu_instance : ~0u,
                                 .computeInstanceId = is_instance ? device->compute_instance : ~0u};
  }
  return SessionLeave(NVML_SUCCESS);
}

static nvmlReturn_t ProcessesOld(nvmlDevice_t handle, char type, unsigned* count, nvmlProcessInfo_v1_t* out) {
  nvmlProcessInfo_t all[TFEMU_GPU_MAX_PROCESSES];
  unsigned found = TFEMU_GPU_MAX_PROCESSES;
  if (!count) return NVML_ERROR_INVALID_ARGUMENT;
  RETURN_IF_FAILED(Processes(handle, type, &found, all));
  unsigned room = *count;
  *count = found;
  if (found > room) return NVML_ERROR_INSUFFICIENT_SIZE;
  if (found && !out) return NVML_ERROR_INVALID_ARGUMENT;
  for (unsigned i = 0; i < found; i++) out[i] = (nvmlProcessInfo_v1_t){all[i].pid, all[i].usedGpuMemory};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle, unsigned* count,
                                                  nvmlProcessInfo_v1_t* out) {
  return ProcessesOld(handle, 'C', count, out);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned* count,
                                                     nvmlProcessInfo_t* out) {
  return Processes(handle, 'C', count, out);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned* count,
                                                     nvmlProcessInfo_t* out) {
  return Processes(handle, 'C', count, out);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t handle, unsigned* count,
                                                   nvmlProcessInfo_v1_t* out) {
  return ProcessesOld(handle, 'G', count, out);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t handle, unsigned* count,
                                                      nvmlProcessInfo_t* out) {
  return Processes(handle, 'G', count, out);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t handle, unsigned* count,
                                                      nvmlProcessInfo_t* out) {
  return Processes(handle, 'G', count, out);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned* count,
                                                        nvmlProcessInfo_t* out) {
  return Processes(handle, 'M', count, out);  // there are none
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned* count,
                                                        nvmlProcessInfo_t* out) {
  return Processes(handle, 'M', count, out);
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle, nvmlProcessUtilizationSample_t* samples,
                                             unsigned* count, uint64_t last_seen) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!count) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  unsigned room = *count;
  *count = Count(list, device, 'C') + Count(list, device, 'G');
  if (!*count) return SessionLeave(NVML_ERROR_NOT_FOUND);
  if (!samples || *count > room) return SessionLeave(NVML_ERROR_INSUFFICIENT_SIZE);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t stamp = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
  if (stamp <= last_seen) return SessionLeave(NVML_ERROR_NOT_FOUND);
  for (unsigned i = 0; i < list->process_count; i++) {
    const GpuProcess* process = &list->processes[i];
    if (process->index != device->index) continue;
    *samples++ = (nvmlProcessUtilizationSample_t){
        .pid = process->pid, .timeStamp = stamp, .smUtil = GpuProcessUtilization(list, device, process)};
  }
  return SessionLeave(NVML_SUCCESS);
}
