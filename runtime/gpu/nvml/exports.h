// Every function of NVML that is answered here.
#pragma once

#include "runtime/gpu/nvml/abi.h"

#pragma GCC visibility push(default)
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set);
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set);
nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t handle, uint64_t* types);
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t handle, uint64_t types, nvmlEventSet_t set);
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned timeout_ms);
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data, unsigned timeout_ms);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t* memory);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t handle, nvmlUtilization_t* rates);
nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t handle, unsigned* utilization, unsigned* period_us);
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t handle, unsigned* utilization, unsigned* period_us);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t handle, unsigned sensor, unsigned* temperature);
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t handle, nvmlTemperature_t* temperature);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t handle, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t handle, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t handle, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t handle, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t handle, unsigned* mode);
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t handle, unsigned* state);
nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t handle, unsigned* state);
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t handle, uint64_t* reasons);
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t handle, uint64_t* reasons);
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t handle, unsigned* current, unsigned* pending);
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t handle, unsigned type, unsigned counter,
                                         uint64_t* count);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t handle, int count, nvmlFieldValue_t* values);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* name, unsigned length);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* uuid, unsigned length);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned* index);
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t handle, unsigned* minor);
nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t handle, unsigned* id);
nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t handle, unsigned* is_multi);
nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t handle, unsigned* brand);
nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t handle, unsigned* node);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t handle, unsigned* architecture);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major, int* minor);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t handle, PciInfoOld* pci);
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t handle, PciInfoOld* pci);
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, unsigned* mode);
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t handle, unsigned* mode);
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t handle, unsigned* mode);
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t handle, unsigned* active);
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t handle, unsigned* is_mig);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle, unsigned* count,
                                                  nvmlProcessInfo_v1_t* out);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned* count,
                                                     nvmlProcessInfo_t* out);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned* count,
                                                     nvmlProcessInfo_t* out);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t handle, unsigned* count,
                                                   nvmlProcessInfo_v1_t* out);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t handle, unsigned* count,
                                                      nvmlProcessInfo_t* out);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t handle, unsigned* count,
                                                      nvmlProcessInfo_t* out);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t handle, unsigned* count,
                                                        nvmlProcessInfo_t* out);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned* count,
                                                        nvmlProcessInfo_t* out);
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle, nvmlProcessUtilizationSample_t* samples,
                                             unsigned* count, uint64_t last_seen);
nvmlReturn_t nvmlInitWithFlags(unsigned flags);
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlInit(void);
nvmlReturn_t nvmlShutdown(void);
const char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length);
nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version);
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version);
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char* name, unsigned length);
nvmlReturn_t nvmlUnitGetCount(unsigned* count);
nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned* count);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count);
nvmlReturn_t nvmlDeviceGetCount(unsigned* count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* handle);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* handle);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* handle);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvmlDevice_t* handle);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* handle);
nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* handle);
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t handle, unsigned link, unsigned* is_active);
nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t handle, unsigned link, unsigned capability,
                                           unsigned* out);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t handle, unsigned link, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t two, unsigned capability,
                                    unsigned* status);
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t one, nvmlDevice_t two, unsigned* level);
nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t one, nvmlDevice_t two, int* same);
nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t handle, unsigned level, unsigned* count,
                                              nvmlDevice_t* nearest);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t handle, unsigned* current, unsigned* pending);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t handle, unsigned* count);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t handle, unsigned index, nvmlDevice_t* instance);
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t instance, nvmlDevice_t* handle);
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t handle, unsigned* id);
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t handle, unsigned* id);
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t handle, nvmlDeviceAttributes_t* attributes);
#pragma GCC visibility pop

// What every other function says: NOT_SUPPORTED, or UNINITIALIZED before nvmlInit.
nvmlReturn_t NvmlUnsupported(void);
