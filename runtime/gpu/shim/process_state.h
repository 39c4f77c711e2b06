// What a process remembers of its allocations; a forked child begins without any, since the driver gives it
// nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct Holding Holding;

typedef struct ProcessState {
  uint32_t lock;
  uint32_t pid;
  int32_t slot;  // in the accounting file, plus one; 0: not claimed yet
  Holding* holdings;
  size_t capacity, count;
} ProcessState;

// Zeros in a new process and after each fork, whatever other threads were doing. Never NULL.
ProcessState* ProcessStateHere(void);
void ProcessLock(ProcessState* state);
void ProcessUnlock(ProcessState* state);
