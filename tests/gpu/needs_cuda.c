// A program with DT_NEEDED libcuda.so.1: allocates so many bytes and prints the result and the free bytes.
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned);
int cuCtxCreate_v2(void**, unsigned, int);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemGetInfo_v2(size_t*, size_t*);

int main(int argc, char** argv) {
  void* context;
  unsigned long long pointer;
  size_t left = 0, total = 0;
  int opened = cuInit(0);
  if (!opened) opened = cuCtxCreate_v2(&context, 0, 0);
  int result = argc > 1 ? cuMemAlloc_v2(&pointer, strtoull(argv[1], NULL, 10)) : 0;
  cuMemGetInfo_v2(&left, &total);
  printf("%d %d %zu %zu\n", opened, result, left, total);
  return 0;
}
