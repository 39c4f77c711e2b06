// One share, many processes and threads: the limit holds for their sum, whatever happens to them.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "runtime/gpu/shim/accounting.h"
#include "tests/gpu/driver_calls.h"

namespace tfemu::gpu_test {
namespace {

// Memory that forked processes see together.
template <class T>
T* Shared() {
  void* page = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (page) T{};
}

struct Pipe {
  Pipe() { CHECK(pipe(ends) == 0); }
  void Signal() const { CHECK(write(ends[1], "x", 1) == 1); }
  void Wait() const {
    char byte = 0;
    while (read(ends[0], &byte, 1) != 1) {
    }
  }
  int ends[2];
};

TEST_CASE("a forked child has its own charges under the same limit; a killed one's are reclaimed") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          Pointer a = 0;
          EXPECT_THAT(Alloc(&a, 60 * kMiB) == kOk);
          Pipe ready;
          pid_t child = fork();
          if (child == 0) {
            Pointer b = 0;
            bool good = Expect(Alloc(&b, 60 * kMiB) == kOutOfMemory, "refused", __LINE__) &&
                        Expect(Alloc(&b, 30 * kMiB) == kOk, "granted", __LINE__) &&
                        Expect(Free(a) == kOk, "the driver's matter", __LINE__) &&
                        Expect(FreeBytes() == 10 * kMiB, "the parent's charge stays", __LINE__);
            if (!good) _exit(1);
            ready.Signal();
            for (;;) pause();
          }
          ready.Wait();
          Pointer c = 0;
          EXPECT_THAT(FreeBytes() == 10 * kMiB && Alloc(&c, 20 * kMiB) == kOutOfMemory);
          kill(child, SIGKILL);
          siginfo_t info;
          waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // it stays a zombie
          EXPECT_THAT(Alloc(&c, 40 * kMiB) == kOk);
          int status = 0;
          waitpid(child, &status, 0);
          EXPECT_THAT(WIFSIGNALED(status));
          return FreeBytes() == 0;
        }) == 0);
}

TEST_CASE("fork while other threads allocate: no child hangs") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          Pointer first = 0;
          EXPECT_THAT(Alloc(&first, kMiB) == kOk);
          // The fake driver has a mutex of its own, which a fork may leave locked: only the shim's part is
          // called.
          auto* add = Symbol<int(void**, int)>("cuDeviceGetDefaultMemPool");
          std::atomic<bool> over{false};
          std::vector<std::thread> threads;
          for (int t = 0; t < 3; t++)
            threads.emplace_back([&] {
              void* pool = nullptr;
              while (!over) add(&pool, 0);
            });
          bool good = true;
          for (int i = 0; i < 200 && good; i++) {
            int status = InChild([&] {
              alarm(20);
              void* pool = nullptr;
              return add(&pool, 1) == kOk;
            });
            good = Expect(status == 0, "the child ended well", __LINE__);
          }
          over = true;
          for (std::thread& thread : threads) thread.join();
          return good;
        }) == 0);
}

TEST_CASE("eight processes of four threads never hold more than the limit") {
  constexpr size_t kLimit = 64 * kMiB;
  struct Sum {
    std::atomic<size_t> held, most, granted, denied;
  };
  Share share;
  auto* sum = Shared<Sum>();
  auto work = [&](unsigned seed) {
    std::minstd_rand random(seed);
    void* context = nullptr;
    Symbol<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0);
    for (int i = 0; i < 400; i++) {
      Pointer pointer = 0;
      size_t size = (1 + random() % 8) * kMiB;
      if (Alloc(&pointer, size) != kOk) {
        sum->denied++;
        continue;
      }
      size_t held = sum->held += size;
      for (size_t most = sum->most; held > most && !sum->most.compare_exchange_weak(most, held);) {
      }
      sum->granted++;
      if (random() % 4 == 0) std::this_thread::yield();
      sum->held -= size;
      if (Free(pointer) != kOk) _exit(3);
    }
  };
  std::vector<pid_t> children;
  for (unsigned p = 0; p < 8; p++) {
    pid_t child = fork();
    if (child == 0) {
      Environment(share, kLimit);
      Init();
      std::vector<std::thread> threads;
      for (unsigned t = 0; t < 4; t++) threads.emplace_back(work, 1 + p * 4 + t);
      for (std::thread& thread : threads) thread.join();
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(sum->most <= kLimit);
  CHECK(sum->granted > 1000);
  MESSAGE("granted " << sum->granted.load() << ", denied " << sum->denied.load() << ", most MiB "
                     << sum->most.load() / kMiB);
  CHECK(InChild([&] {
          Environment(share, kLimit);
          EXPECT_THAT(Init() == kOk);
          return FreeBytes() == kLimit;
        }) == 0);
}

TEST_CASE("closing and opening the library keeps the charges") {
  Share share;
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          void* library = dlopen(ShimPath().c_str(), RTLD_NOW);
          EXPECT_THAT(Init() == kOk);
          Pointer a = 0, b = 0;
          EXPECT_THAT(Alloc(&a, 80 * kMiB) == kOk);
          for (int i = 0; i < 100; i++) dlclose(library);
          EXPECT_THAT(Alloc(&b, 80 * kMiB) == kOutOfMemory && FreeBytes() == 20 * kMiB);
          return Free(a) == kOk && FreeBytes() == 100 * kMiB;
        }) == 0);
}

TEST_CASE("an exec keeps the pid and loses the memory; a program with DT_NEEDED gets the shim") {
  Share share;
  std::string output;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(InChild([&] {
          Environment(share, 100 * kMiB);
          EXPECT_THAT(Init() == kOk);
          Pointer a = 0;
          EXPECT_THAT(Alloc(&a, 80 * kMiB) == kOk);
          dup2(ends[1], 1);
          std::string folder = ShimPath().substr(0, ShimPath().rfind('/'));
          setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
          execl(NeedsCudaPath().c_str(), "needs_cuda", "62914560", nullptr);
          return false;
        }) == 0);
  close(ends[1]);
  char buffer[200];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  CHECK(output == "0 0 41943040 104857600\n");
}

TEST_CASE("a core limit makes the share rest in proportion, and counts launches") {
  Share share;
  struct Figures {
    std::atomic<int64_t> wall_ns, launches;
  };
  auto* figures = Shared<Figures>();
  CHECK(InChild([&] {
          Environment(share, 0);
          setenv("TFEMU_GPU_CORE_LIMIT", "25", 1);
          setenv("FAKE_CUDA_KERNEL_NS", "1000000", 1);
          EXPECT_THAT(Init() == kOk);
          using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             void*, void**, void**);
          auto* launch = Symbol<Launch>("cuLaunchKernel");
          auto* synchronize = Symbol<int()>("cuCtxSynchronize");
          auto start = std::chrono::steady_clock::now();
          for (int i = 0; i < 200; i++) {  // 0.2 s of work
            launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
            synchronize();
          }
          figures->wall_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
          return true;
        }) == 0);
  CHECK(figures->wall_ns > 500'000'000);  // 0.8 s without any loss; the last turn needs no rest
  CHECK(figures->wall_ns < 8'000'000'000);
  ShareFile* file = nullptr;
  if (std::FILE* open = std::fopen(share.accounting().c_str(), "re")) {
    void* map = mmap(nullptr, sizeof(ShareFile), PROT_READ, MAP_SHARED, fileno(open), 0);
    file = static_cast<ShareFile*>(map);
    std::fclose(open);
  }
  REQUIRE(file);
  CHECK(file->slots[0].launches == 200);
  CHECK(file->slots[0].throttled_ns > 300'000'000);
  munmap(file, sizeof(ShareFile));
}

// Calls in any order with sound and unsound arguments; what is left at the end is freed and must add up to
// nothing.
bool RandomSequence(std::mt19937_64& random) {
  auto* async = Symbol<int(Pointer*, size_t, void*)>("cuMemAllocAsync");
  auto* free_async = Symbol<int(Pointer, void*)>("cuMemFreeAsync");
  auto* create = Symbol<int(uint64_t*, size_t, const int*, uint64_t)>("cuMemCreate");
  auto* release = Symbol<int(uint64_t)>("cuMemRelease");
  auto* info = Symbol<int(size_t*, size_t*)>("cuMemGetInfo_v2");
  auto* managed = Symbol<int(Pointer*, size_t, unsigned)>("cuMemAllocManaged");
  auto* pitched = Symbol<int(Pointer*, size_t*, size_t, size_t, unsigned)>("cuMemAllocPitch_v2");
  auto* array_create = Symbol<int(void**, void*)>("cuArrayCreate_v2");
  auto* array_destroy = Symbol<int(void*)>("cuArrayDestroy");
  auto* graph = Symbol<int(void*, void*)>("cuGraphLaunch");
  std::vector<Pointer> held;
  std::vector<uint64_t> handles;
  std::vector<void*> arrays;
  auto any = [&] { return held.empty() || random() % 8 == 0 ? random() : held[random() % held.size()]; };
  auto forget = [&](Pointer pointer) { std::erase(held, pointer); };
  for (int step = 0, steps = 5 + static_cast<int>(random() % 40); step < steps; step++) {
    size_t size = random() % 5 == 0 ? random() : random() % (8 * kMiB);
    Pointer pointer = 0;
    size_t pitch = 0;
    switch (random() % 10) {
      case 0:
        if (Alloc(random() % 9 ? &pointer : nullptr, size) == kOk) held.push_back(pointer);
        break;
      case 1:
        if (async(&pointer, size, nullptr) == kOk) held.push_back(pointer);
        break;
      case 2:
        if (managed(&pointer, size, 1) == kOk) held.push_back(pointer);
        break;
      case 3:
        if (pitched(&pointer, random() % 9 ? &pitch : nullptr, size, random() % 16, 4) == kOk)
          held.push_back(pointer);
        break;
      case 4:
        pointer = any();
        if (Free(pointer) == kOk) forget(pointer);
        break;
      case 5:
        pointer = any();
        if (free_async(pointer, nullptr) == kOk) forget(pointer);
        break;
      case 6: {
        int properties[24] = {1, 0, static_cast<int>(random() % 4), static_cast<int>(random() % 3) - 1};
        if (create(&pointer, size, random() % 9 ? properties : nullptr, 0) == kOk) handles.push_back(pointer);
        break;
      }
      case 7: {
        size_t form[] = {size, random() % 4, (random() % 64) | (size_t{1} << 32), 0, 0};
        void* array = nullptr;
        if (array_create(&array, random() % 9 ? form : nullptr) == kOk) arrays.push_back(array);
        break;
      }
      case 8: info(random() % 2 ? &size : nullptr, &pitch); break;
      default: graph(nullptr, nullptr); break;
    }
  }
  for (Pointer pointer : held) EXPECT_THAT(Free(pointer) == kOk);
  for (uint64_t handle : handles) EXPECT_THAT(release(handle) == kOk);
  for (void* array : arrays) EXPECT_THAT(array_destroy(array) == kOk);
  return true;
}

TEST_CASE("10,000 random sequences of calls: no crash, and nothing stays charged") {
  const char* given = std::getenv("TFEMU_TEST_SEED");
  uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("TFEMU_TEST_SEED=" << seed);
  constexpr int kProcesses = 20, kSequences = 500;
  Share share;
  int crashes = 0;
  for (int p = 0; p < kProcesses; p++) {
    crashes += InChild([&] {
                 Environment(share, 64 * kMiB);
                 setenv("FAKE_CUDA_FAIL_EVERY", "7", 1);
                 EXPECT_THAT(Init() == kOk);
                 std::mt19937_64 random(seed + static_cast<uint64_t>(p));
                 for (int i = 0; i < kSequences; i++) {
                   if (!RandomSequence(random)) return false;
                   EXPECT_THAT(FreeBytes() == 64 * kMiB);
                 }
                 return true;
               }) != 0;
  }
  CHECK(crashes == 0);
}

}  // namespace
}  // namespace tfemu::gpu_test
