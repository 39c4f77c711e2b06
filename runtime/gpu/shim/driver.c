// Finds the true libcuda.so.1 and its functions.
#include "runtime/gpu/shim/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "runtime/gpu/contract.h"
#include "runtime/gpu/reader/old_libc.h"

static void* driver;

static CUresult NotFound(void) { return CUDA_ERROR_NOT_FOUND; }
static CUresult NoDriver(void) { return CUDA_ERROR_NO_DEVICE; }

// The shim itself under another name would call itself for ever.
static int IsShim(const char* path) {
  Dl_info self;
  struct stat a, b;
  return dladdr((void*)(uintptr_t)IsShim, &self) && FileStatus(self.dli_fname, &a) == 0 &&
         FileStatus(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void* Try(const char* path) {
  if (path[0] != '/' || IsShim(path)) return NULL;
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  Dl_info ours, theirs;
  void* init = handle ? dlsym(handle, "cuInit") : NULL;
  if (init && dladdr((void*)(uintptr_t)IsShim, &ours) && dladdr(init, &theirs) &&
      ours.dli_fbase != theirs.dli_fbase)
    return handle;
  if (handle) dlclose(handle);
  return NULL;
}

static void Open(void) {
  static const char* const places[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                       "/usr/lib64/libcuda.so.1",
                                       "/usr/lib/libcuda.so.1",
                                       "/usr/local/nvidia/lib64/libcuda.so.1",
                                       "/usr/lib/wsl/lib/libcuda.so.1",
                                       "/run/opengl-driver/lib/libcuda.so.1"};
  const char* chosen = getenv(TFEMU_CUDA_DRIVER_VARIABLE);
  if (chosen && *chosen) {  // a wrong choice must not be hidden by another driver that happens to be there
    driver = Try(chosen);
    return;
  }
  for (unsigned i = 0; !driver && i < sizeof places / sizeof *places; i++) driver = Try(places[i]);
}

void* ShimFind(const char* name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, Open);
  return driver ? dlsym(driver, name) : NULL;
}

void* ShimAddress(TrueSymbol* symbol) {
  void* address = __atomic_load_n(&symbol->address, __ATOMIC_ACQUIRE);
  if (address) return address;
  address = ShimFind(symbol->name);
  if (!address) address = driver ? (void*)(uintptr_t)NotFound : (void*)(uintptr_t)NoDriver;
  __atomic_store_n(&symbol->address, address, __ATOMIC_RELEASE);
  return address;
}

// What the trampolines jump through; made from symbols.txt.
extern const char* const shim_names[] __attribute__((visibility("hidden")));
extern void* shim_slots[] __attribute__((visibility("hidden")));

void* ShimBind(unsigned index) __attribute__((visibility("hidden")));
void* ShimBind(unsigned index) {
  TrueSymbol symbol = {shim_names[index], 0};
  void* address = ShimAddress(&symbol);
  __atomic_store_n(&shim_slots[index], address, __ATOMIC_RELEASE);
  return address;
}
