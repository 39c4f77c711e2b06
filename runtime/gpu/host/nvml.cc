#include "runtime/gpu/host/nvml.h"

#include <dlfcn.h>

namespace tfemu::gpu {

Result<std::unique_ptr<Nvml>> Nvml::Open(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return Error{Reason::kNotFound, "no NVIDIA driver: " + std::string(why ? why : library),
                 "install the driver, or ask for virtual GPUs with --gpus N --gpu-model A10"};
  }
  std::unique_ptr<Nvml> nvml(new Nvml(handle));
  if (const int code = nvml->Call("nvmlInit_v2"); code != 0)
    return Error{Reason::kUnavailable, "the NVIDIA driver does not start: " + nvml->ErrorText(code),
                 "nvidia-smi says more; dmesg too"};
  return nvml;
}

Nvml::~Nvml() {
  Call("nvmlShutdown");
  ::dlclose(handle_);
}

void* Nvml::Find(const char* name) const { return ::dlsym(handle_, name); }

std::string Nvml::ErrorText(int code) const {
  using Function = const char* (*)(int);
  const auto text = reinterpret_cast<Function>(Find("nvmlErrorString"));
  return (text == nullptr ? "NVML error" : text(code)) + std::string(" (") + std::to_string(code) + ")";
}

}  // namespace tfemu::gpu
