// A driver's library that fails as TFEMU_TEST_NVML_FAULT says.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nvmlInit_v2(void) {
  const char* fault = getenv("TFEMU_TEST_NVML_FAULT");
  if (!fault) return 999;
  if (!strcmp(fault, "hang"))
    for (;;) pause();
  if (!strcmp(fault, "crash")) kill(getpid(), SIGKILL);
  if (!strcmp(fault, "exit")) exit(3);
  if (!strcmp(fault, "chatter")) puts("{}"), fflush(stdout);
  return strcmp(fault, "mismatch") ? 0 : 18;
}

const char* nvmlErrorString(int code) {
  return code == 18 ? "Driver/library version mismatch" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 0;
  return 0;
}
