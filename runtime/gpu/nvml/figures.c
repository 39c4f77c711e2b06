// What a device does: memory, utilisation, power, errors.
#include "runtime/gpu/nvml/exports.h"
#include "runtime/gpu/nvml/session.h"

typedef unsigned (*Figure)(const GpuDevice*);

static nvmlReturn_t Give(nvmlDevice_t handle, unsigned* out, Figure figure) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!out) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *out = figure(device);
  return SessionLeave(NVML_SUCCESS);
}

static unsigned Zero(const GpuDevice* device) { return (void)device, 0; }
static unsigned One(const GpuDevice* device) { return (void)device, 1; }
static unsigned Power(const GpuDevice* device) { return device->power_w * 1000; }
static unsigned PowerLimit(const GpuDevice* device) { return device->power_limit_w * 1000; }
static unsigned State(const GpuDevice* device) { return device->utilization ? 0 : 8; }

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!memory) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  uint64_t used = device->used_bytes;
  *memory = (nvmlMemory_t){.total = device->memory_bytes, .free = device->memory_bytes - used, .used = used};
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t* memory) {
  nvmlMemory_t plain;
  if (!memory) return NVML_ERROR_INVALID_ARGUMENT;
  if (memory->version != NVML_VERSION_OF(nvmlMemory_v2_t, 2)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  RETURN_IF_FAILED(nvmlDeviceGetMemoryInfo(handle, &plain));
  memory->total = plain.total, memory->reserved = 0, memory->free = plain.free, memory->used = plain.used;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, nvmlUtilization_t* rates) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!rates) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  if (device->mig_enabled || *device->parent)
    return SessionLeave(NVML_ERROR_NOT_SUPPORTED);  // as with real ones
  *rates = (nvmlUtilization_t){device->utilization, device->memory_utilization};
  return SessionLeave(NVML_SUCCESS);
}

static nvmlReturn_t Codec(nvmlDevice_t handle, unsigned* utilization, unsigned* period_us) {
  if (!period_us) return NVML_ERROR_INVALID_ARGUMENT;
  RETURN_IF_FAILED(Give(handle, utilization, Zero));
  *period_us = 0;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t handle, unsigned* utilization,
                                             unsigned* period_us) {
  return Codec(handle, utilization, period_us);
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t handle, unsigned* utilization,
                                             unsigned* period_us) {
  return Codec(handle, utilization, period_us);
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t handle, unsigned sensor, unsigned* temperature) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!temperature || sensor != NVML_TEMPERATURE_GPU) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *temperature = device->temperature_c;
  return SessionLeave(NVML_SUCCESS);
}

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t handle, nvmlTemperature_t* temperature) {
  if (!temperature) return NVML_ERROR_INVALID_ARGUMENT;
  if (temperature->version != NVML_VERSION_OF(nvmlTemperature_t, 1))
    return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  unsigned value;
  RETURN_IF_FAILED(nvmlDeviceGetTemperature(handle, temperature->sensorType, &value));
  temperature->temperature = (int)value;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned* milliwatts) {
  return Give(handle, milliwatts, Power);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t handle, unsigned* milliwatts) {
  return Give(handle, milliwatts, PowerLimit);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t handle, unsigned* milliwatts) {
  return Give(handle, milliwatts, PowerLimit);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t handle, unsigned* milliwatts) {
  return Give(handle, milliwatts, PowerLimit);
}

nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t handle, unsigned* mode) {
  return Give(handle, mode, One);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t handle, unsigned* state) {
  return Give(handle, state, State);
}

nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t handle, unsigned* state) {
  return Give(handle, state, State);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t handle, uint64_t* reasons) {
  unsigned state;
  if (!reasons) return NVML_ERROR_INVALID_ARGUMENT;
  RETURN_IF_FAILED(Give(handle, &state, State));
  *reasons = state ? 1 : 0;  // idle
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t handle, uint64_t* reasons) {
  return nvmlDeviceGetCurrentClocksThrottleReasons(handle, reasons);
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t handle, unsigned* current, unsigned* pending) {
  if (!pending) return NVML_ERROR_INVALID_ARGUMENT;
  RETURN_IF_FAILED(Give(handle, current, One));
  *pending = 1;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t handle, unsigned type, unsigned counter,
                                         uint64_t* count) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (!count || type > 1 || counter > 1) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  *count = type == 1 && device->health == kGpuEcc;
  return SessionLeave(NVML_SUCCESS);
}

// Every field on its own says that it is not there, as old devices do.
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t handle, int count, nvmlFieldValue_t* values) {
  const GpuList* list;
  const GpuDevice* device;
  RETURN_IF_FAILED(SessionEnterDevice(handle, &list, &device));
  if (count < 0 || !values) return SessionLeave(NVML_ERROR_INVALID_ARGUMENT);
  for (int i = 0; i < count; i++) {
    values[i].timestamp = values[i].latencyUsec = 0;
    values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    values[i].value = 0;
  }
  return SessionLeave(NVML_SUCCESS);
}
