// The GPUs of this host, as its driver tells them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/api/gpu.h"
#include "emulator/base/result.h"

namespace tfemu::gpu {

struct HostGpus {
  std::vector<api::Gpu> devices;                                // MIG instances after their GPU
  std::map<std::string, std::vector<std::string>> mig_devices;  // MIG uuid -> capability devices
  std::vector<std::string> control_devices, driver_files;
  std::string cuda_driver;  // absolute path of libcuda.so.1, or ""
};

// Calls the driver in this process: it may hang, and it leaves threads behind. Use ProbeHostGpus. `library`
// is libnvidia-ml.so.1 or a path.
Result<HostGpus> ReadHostGpus(const std::string& library);

nlohmann::json Encode(const HostGpus& gpus);
HostGpus Decode(const nlohmann::json& doc);  // of what Encode made

// The same in a child process that is killed when it has not answered in time. The caller has one thread.
Result<HostGpus> ProbeHostGpus(const std::string& library, int timeout_ms);

// What a look found, as one line of text and back.
std::string ProbeText(const Result<HostGpus>& gpus);
Result<HostGpus> ParseProbe(const std::string& text);

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";
inline constexpr int kProbeTimeoutMs = 10'000;  // a cold driver without persistence mode takes seconds

}  // namespace tfemu::gpu
