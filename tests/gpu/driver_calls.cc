#include "tests/gpu/driver_calls.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace tfemu::gpu_test {
namespace {

std::string FromBuild(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace

std::string ShimPath() { return FromBuild("TFEMU_TEST_SHIM"); }
std::string FakePath() { return FromBuild("TFEMU_TEST_FAKE_DRIVER"); }
std::string NeedsCudaPath() { return FromBuild("TFEMU_TEST_NEEDS_CUDA"); }

Share::Share() {
  std::string pattern = std::filesystem::temp_directory_path() / "tfemu-shim-XXXXXX";
  folder_ = mkdtemp(pattern.data());
  accounting_ = folder_ + "/share";
  if (std::FILE* file = std::fopen(accounting_.c_str(), "we"))
    std::fclose(file);  // as the daemon makes it: empty
}

Share::~Share() { std::filesystem::remove_all(folder_); }

int InChild(const std::function<bool()>& body) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

void Environment(const Share& share, size_t limit_bytes) {
  setenv("TFEMU_CUDA_DRIVER", FakePath().c_str(), 1);
  setenv("TFEMU_GPU_ACCOUNTING", share.accounting().c_str(), 1);
  setenv("TFEMU_GPU_MEMORY_LIMIT", std::to_string(limit_bytes).c_str(), 1);
}

void* Open() { return dlopen(ShimPath().c_str(), RTLD_NOW | RTLD_LOCAL); }

int Init() {
  void* context = nullptr;
  if (int result = Symbol<int(unsigned)>("cuInit")(0)) return result;
  return Symbol<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0);
}

int Alloc(Pointer* pointer, size_t size) {
  static auto* const call = Symbol<int(Pointer*, size_t)>("cuMemAlloc_v2");
  return call(pointer, size);
}

int Free(Pointer pointer) {
  static auto* const call = Symbol<int(Pointer)>("cuMemFree_v2");
  return call(pointer);
}

size_t FreeBytes() {
  size_t free_bytes = 0;
  Symbol<int(size_t*, size_t*)>("cuMemGetInfo_v2")(&free_bytes, nullptr);
  return free_bytes;
}

bool Expect(bool holds, const char* what, int line) {
  if (!holds) std::fprintf(stderr, "line %d: expected %s\n", line, what);
  return holds;
}

}  // namespace tfemu::gpu_test
