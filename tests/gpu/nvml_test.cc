// The emulated NVML by its binary interface, on devices files that the test writes.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/gpu/reader/devices.h"

namespace tfemu::gpu_test {
namespace {

using Device = void*;
constexpr int kOk = 0, kUninitialized = 1, kInvalid = 2, kNotSupported = 3, kNotFound = 6, kTooSmall = 7,
              kNoDriver = 9, kTimeout = 10, kLost = 15, kVersion = 25;

template <class... Arguments>
int Call(const char* name, Arguments... arguments) {
  static void* library = dlopen(std::getenv("TFEMU_TEST_NVML"), RTLD_NOW | RTLD_LOCAL);
  auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  REQUIRE_MESSAGE((function != nullptr), name);
  return function(arguments...);
}

std::string Gpu(int index, const std::string& more = "") {
  std::string i = std::to_string(index);
  return "gpu\tindex=" + i + "\tuuid=GPU-00000000-0000-4000-8000-00000000000" + i +
         "\tname=NVIDIA A10\tmemory_bytes=24696061952\tutilization=50\tpci=00000000:0" + i +
         ":1E.0\tdriver=550.54.15\tcuda=12.4\tsm=8.6\tpower_w=80\tpower_limit_w=150\ttemperature_c=40" +
         more + "\n";
}

class DevicesFile {
 public:
  DevicesFile() {
    std::string pattern = std::filesystem::temp_directory_path() / "tfemu-nvml-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("TFEMU_GPU_DEVICES", (folder_ + "/devices").c_str(), 1);
  }
  ~DevicesFile() {
    while (Call("nvmlShutdown") == kOk) {
    }
    std::filesystem::remove_all(folder_);
  }
  void Write(const std::string& text) const {
    std::ofstream(folder_ + "/new") << text;
    std::filesystem::rename(folder_ + "/new", folder_ + "/devices");
  }
  void Remove() const { std::filesystem::remove(folder_ + "/devices"); }

 private:
  std::string folder_;
};

// The library looks at the file ten times a second.
bool Becomes(const std::function<bool()>& holds) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds())
    if (std::chrono::steady_clock::now() > deadline) return false;
  return true;
}

Device Handle(unsigned index) {
  Device device = nullptr;
  CHECK(Call("nvmlDeviceGetHandleByIndex_v2", index, &device) == kOk);
  return device;
}

TEST_CASE("init is counted; without a file, or with a broken one, there is no driver") {
  DevicesFile file;
  unsigned count = 0;
  CHECK(Call("nvmlInit_v2") == kNoDriver);
  CHECK(Call("nvmlDeviceGetCount_v2", &count) == kUninitialized);
  CHECK(Call("nvmlDeviceGetFanSpeed", Device{}, &count) == kUninitialized);
  file.Write("tfemu-gpus 2\n");
  CHECK(Call("nvmlInit_v2") == kNoDriver);
  file.Write("tfemu-gpus 1\n" + Gpu(0));
  CHECK(Call("nvmlInit_v2") == kOk);
  CHECK(Call("nvmlInit") == kOk);
  CHECK(Call("nvmlShutdown") == kOk);
  CHECK(Call("nvmlDeviceGetCount_v2", &count) == kOk);
  CHECK(count == 1);
  CHECK(Call("nvmlDeviceGetFanSpeed", Handle(0), &count) == kNotSupported);
  CHECK(Call("nvmlShutdown") == kOk);
  CHECK(Call("nvmlShutdown") == kUninitialized);
}

TEST_CASE("names, versions of structs, and buffers that are too small") {
  DevicesFile file;
  file.Write("tfemu-gpus 1\n" + Gpu(0, "\tfuture=a=b") +
             "later\tx=1\nprocess\tindex=0\tpid=7\tname=/bin/x\tused_bytes=1048576\n");
  REQUIRE(Call("nvmlInit_v2") == kOk);
  Device device = Handle(0);
  char text[96];
  CHECK(Call("nvmlDeviceGetName", device, text, 96U) == kOk);
  CHECK(std::string(text) == "NVIDIA A10 (emulated)");
  CHECK(Call("nvmlDeviceGetName", device, text, 5U) == kTooSmall);
  CHECK(Call("nvmlDeviceGetUUID", device, text, 80U) == kOk);
  CHECK(std::string(text).starts_with(TFEMU_GPU_VIRTUAL_UUID_PREFIX));
  Device same = nullptr;
  CHECK(Call("nvmlDeviceGetHandleByUUID", static_cast<const char*>(text), &same) == kOk);
  CHECK(same == device);
  CHECK(Call("nvmlDeviceGetHandleByPciBusId_v2", "0000:00:1E.0", &same) == kOk);
  CHECK(Call("nvmlDeviceGetHandleByUUID", "GPU-1", &same) == kNotFound);
  struct {
    unsigned version;
    uint64_t total, reserved, free, used;
  } memory{};
  CHECK(Call("nvmlDeviceGetMemoryInfo_v2", device, &memory) == kVersion);
  memory.version = 0x2000028;
  CHECK(Call("nvmlDeviceGetMemoryInfo_v2", device, &memory) == kOk);
  CHECK(memory.used == 1048576);
  CHECK(memory.free + memory.used == 24696061952);
  unsigned count = 0;
  uint64_t processes[3];
  CHECK(Call("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, static_cast<void*>(nullptr)) ==
        kTooSmall);
  CHECK(count == 1);
  CHECK(Call("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, static_cast<void*>(processes)) ==
        kOk);
  CHECK(static_cast<uint32_t>(processes[0]) == 7);
  for (Device wrong : {Device{}, Device{text}, Device{static_cast<char*>(device) + 1}})
    CHECK(Call("nvmlDeviceGetIndex", wrong, &count) == kInvalid);
}

TEST_CASE("a changed file is read again, handles stay, a device that goes or is lost says so") {
  DevicesFile file;
  file.Write("tfemu-gpus 1\n" + Gpu(0) + Gpu(1));
  REQUIRE(Call("nvmlInit_v2") == kOk);
  Device device = Handle(1);
  unsigned value = 0;
  file.Write("tfemu-gpus 1\n" + Gpu(0) + Gpu(1, "\ttemperature_c=77"));
  CHECK(Becomes([&] { return Call("nvmlDeviceGetTemperature", device, 0U, &value) == kOk && value == 77; }));
  file.Write("tfemu-gpus 1\n" + Gpu(0) + Gpu(1, "\thealth=lost"));
  CHECK(Becomes([&] { return Call("nvmlDeviceGetTemperature", device, 0U, &value) == kLost; }));
  CHECK(Call("nvmlDeviceGetIndex", device, &value) == kOk);
  Device other = nullptr;
  CHECK(Call("nvmlDeviceGetHandleByIndex_v2", 1U, &other) == kLost);
  file.Write("tfemu-gpus 1\n" + Gpu(0));
  CHECK(Becomes([&] { return Call("nvmlDeviceGetIndex", device, &value) == kLost; }));
  file.Write("rubbish");
  CHECK(Becomes([&] { return Call("nvmlDeviceGetCount_v2", &value) == kNoDriver; }));
  file.Write("tfemu-gpus 1\n" + Gpu(0) + Gpu(1));
  CHECK(Becomes([&] { return Call("nvmlDeviceGetIndex", device, &value) == kOk && value == 1; }));
  file.Remove();
  CHECK(Becomes([&] { return Call("nvmlDeviceGetCount_v2", &value) == kNoDriver; }));
}

TEST_CASE("an Xid is an event, once") {
  DevicesFile file;
  file.Write("tfemu-gpus 1\n" + Gpu(0));
  REQUIRE(Call("nvmlInit_v2") == kOk);
  void* set = nullptr;
  struct {
    Device device;
    uint64_t type, data;
    unsigned gi, ci;
  } event{};
  CHECK(Call("nvmlEventSetCreate", &set) == kOk);
  CHECK(Call("nvmlDeviceRegisterEvents", Handle(0), uint64_t{8}, set) == kOk);
  CHECK(Call("nvmlEventSetWait_v2", set, &event, 0U) == kTimeout);
  file.Write("tfemu-gpus 1\n" + Gpu(0, "\thealth=xid:79"));
  CHECK(Call("nvmlEventSetWait_v2", set, &event, 10000U) == kOk);
  CHECK(event.device == Handle(0));
  CHECK(event.type == 8);
  CHECK(event.data == 79);
  CHECK(Call("nvmlEventSetWait_v2", set, &event, 150U) == kTimeout);
  CHECK(Call("nvmlEventSetFree", set) == kOk);
}

TEST_CASE("links, topology and MIG instances") {
  DevicesFile file;
  std::string instance =
      "gpu\tindex=2\tuuid=MIG-00000000-1\tname=NVIDIA "
      "A100\tmemory_bytes=5368709120\tprofile=1g.5gb\tgi=7\tci=0"
      "\tparent=GPU-00000000-0000-4000-8000-000000000001\n";
  file.Write("tfemu-gpus 1\n" + Gpu(0, "\tlinks=1:4\tnuma=0") + Gpu(1, "\tlinks=0:4\tnuma=1\tmig=enabled") +
             instance);
  REQUIRE(Call("nvmlInit_v2") == kOk);
  unsigned value = 0;
  CHECK(Call("nvmlDeviceGetCount_v2", &value) == kOk);
  CHECK(value == 2);
  int links = 0;
  for (unsigned link = 0; link < 18; link++)
    if (Call("nvmlDeviceGetNvLinkState", Handle(0), link, &value) == kOk) links += static_cast<int>(value);
  CHECK(links == 4);
  CHECK(Call("nvmlDeviceGetTopologyCommonAncestor", Handle(0), Handle(1), &value) == kOk);
  CHECK(value == 50);
  Device mig = nullptr;
  CHECK(Call("nvmlDeviceGetMigDeviceHandleByIndex", Handle(1), 0U, &mig) == kOk);
  CHECK(Call("nvmlDeviceGetMigDeviceHandleByIndex", Handle(1), 1U, &mig) == kNotFound);
  CHECK(Call("nvmlDeviceGetMigDeviceHandleByIndex", Handle(1), 0U, &mig) == kOk);
  CHECK(Call("nvmlDeviceGetGpuInstanceId", mig, &value) == kOk);
  CHECK(value == 7);
  CHECK(Call("nvmlDeviceIsMigDeviceHandle", mig, &value) == kOk);
  CHECK(value == 1);
  CHECK(Call("nvmlDeviceGetGpuInstanceId", Handle(0), &value) == kNotSupported);
}

TEST_CASE("threads ask while the file changes and others init and shut down") {
  DevicesFile file;
  file.Write("tfemu-gpus 1\n" + Gpu(0) + Gpu(1));
  REQUIRE(Call("nvmlInit_v2") == kOk);
  Device device = Handle(0);
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      while (!over) {
        char name[96];
        if (Call("nvmlInit_v2") != kOk) wrong++;
        if (Call("nvmlDeviceGetName", device, name, 96U) != kOk) wrong++;
        if (Call("nvmlShutdown") != kOk) wrong++;
      }
    });
  for (int i = 0; i < 300; i++)
    file.Write("tfemu-gpus 1\n" + Gpu(0, "\tminor=" + std::to_string(i)) + Gpu(1));
  over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("whatever the file holds, the reader survives") {
  std::string sound = "tfemu-gpus 1\n" + Gpu(0, "\tlinks=1:4,0:1\thealth=xid:31") + Gpu(1) +
                      "process\tindex=0\tpid=17\tname=python3\tused_bytes=1\n";
  std::mt19937 random(7);
  auto list = std::make_unique<GpuList>();
  for (int i = 0; i < 20000; i++) {
    std::string text = sound;
    for (unsigned n = random() % 6; n > 0; n--)
      text[random() % text.size()] = "\t\n=:,0x\xff-9"[random() % 10];
    if (random() % 3 == 0) text.resize(random() % text.size());
    GpuReadResult result = GpuParse(text.data(), list.get());
    if (result != kGpuRead) CHECK(list->device_count == 0);
    for (unsigned d = 0; d < list->device_count; d++)
      if (list->devices[d].used_bytes > list->devices[d].memory_bytes) FAIL("more used than there is");
  }
  std::string growing = "tfemu-gpus 1\n" + Gpu(0, "\tpci=\tsm=\tdriver=\thealth=tired\tnuma=");
  CHECK(GpuParse(growing.data(), list.get()) == kGpuRead);
  CHECK(list->devices[0].health == kGpuHealthy);
  std::string many = "tfemu-gpus 1\n";
  for (int i = 0; i < 65; i++)
    many += "gpu\tindex=" + std::to_string(i) + "\tuuid=u\tname=n\tmemory_bytes=1\n";
  CHECK(GpuParse(many.data(), list.get()) == kGpuBroken);
}

}  // namespace
}  // namespace tfemu::gpu_test
