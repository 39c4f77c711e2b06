// The few calls of NVML that an inventory needs, found at run time: this program never links the driver. The
// ABI is declared by hand (gpu-and-tensorflow.md 1.1, measured against nvml.h 13.3).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/base/result.h"

namespace tfemu::gpu {

class Nvml {
 public:
  using Device = void*;
  struct Memory {
    unsigned long long total, free, used;
  };
  struct Pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
  };
  struct Attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, gpu_slices, compute_slices;
    unsigned long long memory_mb;
  };

  // `library` is a path, or a name that the loader looks up.
  static Result<std::unique_ptr<Nvml>> Open(const std::string& library);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Calls `name` with `arguments`; 0 is success, 13 (function not found) when the library lacks it.
  template <typename... Arguments>
  int Call(const char* name, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(Find(name));
    return function == nullptr ? kFunctionNotFound : function(arguments...);
  }
  std::string ErrorText(int code) const;

  static constexpr int kFunctionNotFound = 13;
  static constexpr int kGpuIsLost = 15;

 private:
  explicit Nvml(void* handle) : handle_(handle) {}
  void* Find(const char* name) const;
  void* handle_;
};

}  // namespace tfemu::gpu
