// Keeps the libraries loadable in image roots whose glibc is older than the host's: nothing newer than 2.17
// is used.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__GLIBC__)
// These moved from libdl and libpthread into libc with 2.34; under their first version both kinds of root
// have them.
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dlclose,dlclose@GLIBC_2.2.5");
__asm__(".symver dladdr,dladdr@GLIBC_2.2.5");
__asm__(".symver pthread_once,pthread_once@GLIBC_2.2.5");
#endif

// stat and fstat are symbols of their own only since 2.33. On 64-bit machines the kernel's struct is glibc's.
static inline int FileStatus(const char* path, struct stat* out) {
  return (int)syscall(SYS_newfstatat, AT_FDCWD, path, out, 0);
}

static inline int OpenFileStatus(int fd, struct stat* out) { return (int)syscall(SYS_fstat, fd, out); }
