// A page that the kernel wipes in a forked child: neither locks nor charges can be inherited half done.
#include "runtime/gpu/shim/process_state.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/gpu/reader/old_libc.h"

static ProcessState* shared_state;
static ProcessState fallback;

static void Wipe(void) { memset(shared_state, 0, sizeof *shared_state); }

static void Make(void) {
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ProcessState* state = page == MAP_FAILED ? &fallback : page;
  int wiped = state != &fallback && madvise(page, 4096, MADV_WIPEONFORK) == 0;
  __atomic_store_n(&shared_state, state, __ATOMIC_RELEASE);
  if (!wiped) pthread_atfork(NULL, NULL, Wipe);
}

ProcessState* ProcessStateHere(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  ProcessState* state = __atomic_load_n(&shared_state, __ATOMIC_ACQUIRE);
  if (state) return state;
  pthread_once(&once, Make);
  return __atomic_load_n(&shared_state, __ATOMIC_ACQUIRE);
}

// A few instructions are done under it, never a call of the driver.
void ProcessLock(ProcessState* state) {
  for (unsigned tries = 0; __atomic_exchange_n(&state->lock, 1, __ATOMIC_ACQUIRE); tries++)
    if (tries > 32) sched_yield();
}

void ProcessUnlock(ProcessState* state) { __atomic_store_n(&state->lock, 0, __ATOMIC_RELEASE); }
