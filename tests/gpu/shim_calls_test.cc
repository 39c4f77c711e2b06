// What single calls of the shim do, on the fake driver.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "tests/gpu/driver_calls.h"

namespace tfemu::gpu_test {
namespace {

std::vector<std::string> AllNames() {
  std::ifstream file(std::getenv("TFEMU_TEST_SYMBOLS"));
  std::vector<std::string> names;
  for (std::string name; file >> name;) names.push_back(name);
  return names;
}

using Properties = std::array<int, 24>;  // CUmemAllocationProp and CUmemPoolProps begin alike
Properties On(int location, int id) { return {1, 0, location, id}; }

TEST_CASE("every name of the list is exported, and without a driver each call says that there is no device") {
  CHECK(InChild([] {
          setenv("TFEMU_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1);
          for (const std::string& name : AllNames()) {
            auto* call = Symbol<int(void*, void*, void*, void*, void*, void*)>(name.c_str());
            EXPECT_THAT(call != nullptr);
            int result = call(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
            if (result != kNoDevice) return Expect(false, name.c_str(), result);
          }
          return true;
        }) == 0);
}

TEST_CASE("what the driver does not have is NOT_FOUND, whatever the arguments") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, kMiB);
          void* fake = dlopen(FakePath().c_str(), RTLD_NOW | RTLD_LOCAL);
          int missing = 0;
          for (const std::string& name : AllNames()) {
            auto* call = Symbol<int(void*, void*, void*, void*, void*, void*)>(name.c_str());
            if (dlsym(fake, name.c_str())) continue;
            int result = call(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
            missing++;
            if (result != kNotFound) return Expect(false, name.c_str(), result);
          }
          return missing > 600;
        }) == 0);
}

TEST_CASE("a driver path that is the shim itself is no driver") {
  CHECK(InChild([] {
          setenv("TFEMU_CUDA_DRIVER", ShimPath().c_str(), 1);
          return Init() == kNoDevice;
        }) == 0);
}

TEST_CASE("memory is charged, freed, and shown as the share") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          Pointer a = 0, b = 0;
          EXPECT_THAT(Alloc(&a, 60 * kMiB) == kOk);
          EXPECT_THAT(Alloc(&b, 60 * kMiB) == kOutOfMemory);
          EXPECT_THAT(FreeBytes() == 40 * kMiB);
          size_t total = 0;
          EXPECT_THAT(Symbol<int(size_t*, size_t*)>("cuMemGetInfo_v2")(nullptr, &total) == kOk &&
                      total == 100 * kMiB);
          EXPECT_THAT(Symbol<int(size_t*, int)>("cuDeviceTotalMem_v2")(&total, 0) == kOk &&
                      total == 100 * kMiB);
          EXPECT_THAT(Symbol<int(size_t*, int)>("cuDeviceTotalMem_v2")(&total, 1) == kOk &&
                      total == 1024 * kMiB);
          EXPECT_THAT(Free(a) == kOk && Free(a) != kOk && Free(0) == kOk);
          EXPECT_THAT(Alloc(nullptr, 1) != kOk && Alloc(&a, 0) != kOk);
          EXPECT_THAT(Alloc(&a, ~size_t{0}) == kOutOfMemory);
          EXPECT_THAT(Alloc(&a, 100 * kMiB) == kOk);
          return FreeBytes() == 0;
        }) == 0);
}

TEST_CASE("a failure of the driver gives the charge back") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          setenv("FAKE_CUDA_MEMORY", "1048576", 1);
          EXPECT_THAT(Init() == kOk);
          Pointer a = 0;
          setenv("FAKE_CUDA_FAIL_EVERY", "1", 1);
          EXPECT_THAT(Alloc(&a, 4096) == kOutOfMemory);
          EXPECT_THAT(Symbol<int(Pointer*, size_t, void*)>("cuMemAllocAsync")(&a, 4096, nullptr) ==
                      kOutOfMemory);
          unsetenv("FAKE_CUDA_FAIL_EVERY");
          setenv("FAKE_CUDA_MEMORY", "1073741824", 1);
          return FreeBytes() == 100 * kMiB;
        }) == 0);
}

TEST_CASE("asynchronous and pooled memory, pitches, arrays and managed memory count") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          Pointer a = 0;
          void* pool = nullptr;
          size_t pitch = 0;
          auto* async = Symbol<int(Pointer*, size_t, void*)>("cuMemAllocAsync");
          auto* pooled = Symbol<int(Pointer*, size_t, void*, void*)>("cuMemAllocFromPoolAsync");
          EXPECT_THAT(async(&a, 101 * kMiB, nullptr) == kOutOfMemory);
          EXPECT_THAT(Symbol<int(void**, int)>("cuDeviceGetDefaultMemPool")(&pool, 0) == kOk);
          EXPECT_THAT(pooled(&a, 101 * kMiB, pool, nullptr) == kOutOfMemory);
          EXPECT_THAT(pooled(&a, 50 * kMiB, pool, nullptr) == kOk && FreeBytes() == 50 * kMiB);
          EXPECT_THAT(Symbol<int(Pointer, void*)>("cuMemFreeAsync")(a, nullptr) == kOk &&
                      FreeBytes() == 100 * kMiB);
          Properties host = On(2, 0);
          EXPECT_THAT(Symbol<int(void**, void*)>("cuMemPoolCreate")(&pool, host.data()) == kOk);
          EXPECT_THAT(pooled(&a, 200 * kMiB, pool, nullptr) == kOk && FreeBytes() == 100 * kMiB);
          auto* pitched = Symbol<int(Pointer*, size_t*, size_t, size_t, unsigned)>("cuMemAllocPitch_v2");
          EXPECT_THAT(pitched(&a, &pitch, 1, 2048, 4) == kOk && FreeBytes() == 99 * kMiB);
          EXPECT_THAT(pitched(&a, &pitch, 1, 1024 * 1024, 4) == kOutOfMemory && FreeBytes() == 99 * kMiB);
          auto* managed = Symbol<int(Pointer*, size_t, unsigned)>("cuMemAllocManaged");
          EXPECT_THAT(managed(&a, 100 * kMiB, 1) == kOutOfMemory && managed(&a, kMiB, 1) == kOk);
          size_t form[] = {1024, 1024, 0x20 | (size_t{4} << 32), 0, 0};
          void* array = nullptr;
          EXPECT_THAT(Symbol<int(void**, void*)>("cuArrayCreate_v2")(&array, form) == kOk &&
                      FreeBytes() == 82 * kMiB);
          EXPECT_THAT(Symbol<int(void*)>("cuArrayDestroy")(array) == kOk && FreeBytes() == 98 * kMiB);
          size_t huge[] = {~size_t{0}, ~size_t{0}, ~size_t{0}, 0x20 | (size_t{4} << 32), 0};
          EXPECT_THAT(Symbol<int(void**, void*)>("cuArray3DCreate_v2")(&array, huge) == kOutOfMemory);
          EXPECT_THAT(Symbol<int(void**, void*, unsigned)>("cuMipmappedArrayCreate")(&array, huge, 9) ==
                      kOutOfMemory);
          return FreeBytes() == 98 * kMiB;
        }) == 0);
}

TEST_CASE("physical memory: the location counts, and it lives as long as a mapping") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          auto* create = Symbol<int(uint64_t*, size_t, const int*, uint64_t)>("cuMemCreate");
          auto* release = Symbol<int(uint64_t)>("cuMemRelease");
          auto* map = Symbol<int(Pointer, size_t, size_t, uint64_t, uint64_t)>("cuMemMap");
          auto* unmap = Symbol<int(Pointer, size_t)>("cuMemUnmap");
          uint64_t handle = 0, again = 0;
          Properties device = On(1, 0), host = On(3, 0), other = On(1, 1);
          EXPECT_THAT(create(&handle, 200 * kMiB, device.data(), 0) == kOutOfMemory);
          EXPECT_THAT(create(&handle, 200 * kMiB, host.data(), 0) == kOk);
          EXPECT_THAT(create(&handle, 200 * kMiB, other.data(), 0) == kOk);
          EXPECT_THAT(create(&handle, 20 * kMiB, nullptr, 0) != kOk);
          EXPECT_THAT(create(&handle, 20 * kMiB, device.data(), 0) == kOk && FreeBytes() == 80 * kMiB);
          EXPECT_THAT(map(0x5000, 20 * kMiB, 0, handle, 0) == kOk);
          EXPECT_THAT(Symbol<int(uint64_t*, void*)>("cuMemRetainAllocationHandle")(
                          &again, reinterpret_cast<void*>(0x5000)) == kOk &&
                      again == handle);
          EXPECT_THAT(release(handle) == kOk && release(handle) == kOk && FreeBytes() == 80 * kMiB);
          EXPECT_THAT(release(handle) != kOk && FreeBytes() == 80 * kMiB);
          EXPECT_THAT(unmap(0x5000, 20 * kMiB) == kOk && FreeBytes() == 100 * kMiB);
          return unmap(0x5000, 20 * kMiB) != kOk && FreeBytes() == 100 * kMiB;
        }) == 0);
}

TEST_CASE("the end of a context gives back what it held") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          Pointer a = 0;
          void *first = nullptr, *context = nullptr;
          Symbol<int(void**)>("cuCtxGetCurrent")(&first);
          auto* set = Symbol<int(void*)>("cuCtxSetCurrent");
          EXPECT_THAT(Symbol<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0) == kOk);
          EXPECT_THAT(Alloc(&a, 30 * kMiB) == kOk && Alloc(&a, 30 * kMiB) == kOk);
          EXPECT_THAT(Symbol<int(void*)>("cuCtxDestroy_v2")(context) == kOk && set(first) == kOk);
          EXPECT_THAT(FreeBytes() == 100 * kMiB);
          auto* retain = Symbol<int(void**, int)>("cuDevicePrimaryCtxRetain");
          EXPECT_THAT(retain(&context, 0) == kOk && retain(&context, 0) == kOk && set(context) == kOk);
          EXPECT_THAT(Alloc(&a, 70 * kMiB) == kOk && FreeBytes() == 30 * kMiB);
          auto* release = Symbol<int(int)>("cuDevicePrimaryCtxRelease_v2");
          EXPECT_THAT(release(0) == kOk && FreeBytes() == 30 * kMiB && release(0) == kOk &&
                      set(first) == kOk);
          return FreeBytes() == 100 * kMiB;
        }) == 0);
}

TEST_CASE("cuGetProcAddress gives the shim's functions for hooked names and the driver's for others") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          using Lookup = int(const char*, void**, int, uint64_t, int*);
          auto* lookup = Symbol<Lookup>("cuGetProcAddress_v2");
          void *found = nullptr, *fake = dlopen(FakePath().c_str(), RTLD_NOW | RTLD_LOCAL);
          EXPECT_THAT(lookup("cuMemAlloc", &found, 12000, 0, nullptr) == kOk &&
                      found == dlsym(Open(), "cuMemAlloc_v2"));
          Pointer a = 0;
          EXPECT_THAT(reinterpret_cast<int (*)(Pointer*, size_t)>(found)(&a, 200 * kMiB) == kOutOfMemory);
          EXPECT_THAT(lookup("cuMemAlloc", &found, 2000, 0, nullptr) == kOk &&
                      found == dlsym(Open(), "cuMemAlloc"));
          EXPECT_THAT(reinterpret_cast<int (*)(Pointer*, size_t)>(found)(&a, 1) == 801);
          EXPECT_THAT(lookup("cuMemAllocAsync", &found, 12000, 2, nullptr) == kOk);
          EXPECT_THAT(found == dlsym(Open(), "cuMemAllocAsync_ptsz"));
          EXPECT_THAT(lookup("cuCtxSynchronize", &found, 12000, 0, nullptr) == kOk);
          EXPECT_THAT(found == dlsym(fake, "cuCtxSynchronize"));
          EXPECT_THAT(lookup("cuGetProcAddress", &found, 12000, 0, nullptr) == kOk &&
                      found == reinterpret_cast<void*>(lookup));
          EXPECT_THAT(lookup("cuNoSuchThing", &found, 12000, 0, nullptr) == kNotFound && !found);
          return lookup(nullptr, &found, 12000, 0, nullptr) != kOk &&
                 lookup("cuMemAlloc", nullptr, 1, 0, nullptr) != kOk;
        }) == 0);
}

TEST_CASE("arguments go through a trampoline's first call unchanged") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 0);
          unsigned seen = 0;
          void* parameters[] = {&seen};
          using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             void*, void**, void**);
          EXPECT_THAT(Symbol<Launch>("cuLaunchKernel")(nullptr, 42, 2, 3, 4, 5, 6, 7, nullptr, parameters,
                                                       nullptr) == kOk);
          EXPECT_THAT(seen == 42);
          auto* set = Symbol<int(void*, int, float)>("cuParamSetf");
          for (int i = 0; i < 2; i++) EXPECT_THAT(set(reinterpret_cast<void*>(7), 3, 2.5F) == kOk);
          return true;
        }) == 0);
}

TEST_CASE("a limit by UUID follows its device when the program narrows what it sees") {
  Share share;
  auto run = [&](const char* first, size_t limit) {
    return InChild([&] {
      Environment(share, 0);
      setenv("FAKE_CUDA_FIRST", first, 1);
      setenv("TFEMU_GPU_MEMORY_LIMIT", "GPU-00000000-0000-0000-0000-000000000002=1048576,nonsense", 1);
      EXPECT_THAT(Init() == kOk);
      return FreeBytes() == limit;
    });
  };
  CHECK(run("0", 1024 * kMiB) == 0);
  CHECK(run("1", kMiB) == 0);
}

}  // namespace
}  // namespace tfemu::gpu_test
