// The driver's functions as a program finds them: by dlsym in the library named libcuda.so.1.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tfemu::gpu_test {

inline constexpr int kOk = 0, kOutOfMemory = 2, kNoDevice = 100, kNotFound = 500;
inline constexpr size_t kMiB = 1 << 20;
using Pointer = uint64_t;

// Paths that the build tells.
std::string ShimPath();
std::string FakePath();
std::string NeedsCudaPath();

// A process of its own, with a folder and an accounting file that all its children share.
class Share {
 public:
  Share();
  ~Share();
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  const std::string& accounting() const { return accounting_; }

 private:
  std::string folder_;
  std::string accounting_;
};

// Runs `body` in a forked process, which ends with 0 when body returns true; answers how it ended, as waitpid
// says.
int InChild(const std::function<bool()>& body);
// What the shim reads at its first call; only inside InChild.
void Environment(const Share& share, size_t limit_bytes);

// dlopen and one dlsym, again and again: what a program does that loads the driver at run time.
void* Open();
template <class Function>
Function* Symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(Open(), name));
}

int Init();  // cuInit and a context on device 0, which becomes current
int Alloc(Pointer* pointer, size_t size);
int Free(Pointer pointer);
size_t FreeBytes();

// Says what failed, since doctest's own output is the parent's.
bool Expect(bool holds, const char* what, int line);
#define EXPECT_THAT(condition) \
  if (!::tfemu::gpu_test::Expect(condition, #condition, __LINE__)) return false

}  // namespace tfemu::gpu_test
