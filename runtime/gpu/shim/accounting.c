// Charging to the accounting file: each process adds to its own slot first and looks at the sum then.
#include "runtime/gpu/shim/accounting.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/gpu/contract.h"
#include "runtime/gpu/reader/old_libc.h"
#include "runtime/gpu/shim/process_state.h"

#define WIPING (UINT64_C(1) << 31)
enum { kMostTries = 10000 };

static ShareFile* share;

static uint64_t Load(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
static void Add(uint64_t* word, uint64_t amount) { __atomic_fetch_add(word, amount, __ATOMIC_SEQ_CST); }
static void Store(uint64_t* word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }
static int Swap(uint64_t* word, uint64_t from, uint64_t to) {
  return __atomic_compare_exchange_n(word, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static ShareFile* MapFile(const char* path) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return NULL;
  struct stat found;
  void* map = MAP_FAILED;
  if (OpenFileStatus(fd, &found) == 0 &&
      (found.st_size >= (off_t)sizeof(ShareFile) || !ftruncate(fd, sizeof(ShareFile))))
    map = mmap(NULL, sizeof(ShareFile), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map == MAP_FAILED) return NULL;
  ShareFile* file = map;
  if (Swap(&file->magic, 0, SHARE_MAGIC) || Load(&file->magic) == SHARE_MAGIC) return file;
  munmap(map, sizeof(ShareFile));
  errno = EINVAL;
  return NULL;
}

static void Map(void) {
  const char* path = getenv(TFEMU_GPU_ACCOUNTING_VARIABLE);
  if (path && *path && (share = MapFile(path))) return;
  if (path && *path)
    fprintf(stderr, "tfemu: %s: %s: this process and its children count their GPU memory alone\n", path,
            strerror(errno));
  void* map = mmap(NULL, sizeof(ShareFile), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (map != MAP_FAILED) share = map;
}

static ShareFile* Share(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, Map);
  return share;
}

// The 22nd field of /proc/PID/stat, and 0 in *alive for a zombie; 0: there is no such file.
static uint32_t StartTime(const char* pid, int* alive) {
  char path[40], text[512];
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  text[size > 0 ? size : 0] = 0;
  const char* at = strrchr(text, ')');  // the name before it may hold anything
  if (!at || at[1] != ' ') return 0;
  *alive = at[2] != 'Z' && at[2] != 'X';
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  return at ? (uint32_t)strtoull(at + 1, NULL, 10) : 0;
}

static int IsAlive(uint64_t owner) {
  char pid[16];
  int alive = 1;
  pid_t number = (pid_t)(owner & (WIPING - 1));
  snprintf(pid, sizeof pid, "%d", number);
  uint32_t start = StartTime(pid, &alive);
  if (!start) return kill(number, 0) == 0 || errno != ESRCH;
  return alive && (!(owner >> 32) || start == (uint32_t)(owner >> 32));
}

static void Clear(ShareSlot* slot) {
  memset((char*)slot + sizeof slot->owner, 0, sizeof *slot - sizeof slot->owner);
}

static uint64_t Incarnation(void) {
  uint64_t random = 0;
  const void* bytes = (const void*)getauxval(AT_RANDOM);
  if (bytes) memcpy(&random, bytes, sizeof random);
  return random | 1;
}

// Wipes the slots of dead processes. A wiper that dies in the middle leaves a dead owner again.
static unsigned Reclaim(ShareFile* file) {
  unsigned wiped = 0;
  uint64_t mark = (uint64_t)getpid() | WIPING;
  for (ShareSlot* slot = file->slots; slot < file->slots + kShareSlots; slot++) {
    uint64_t owner = Load(&slot->owner);
    if (!owner || IsAlive(owner) || !Swap(&slot->owner, owner, mark)) continue;
    Clear(slot);
    Store(&slot->owner, 0);
    wiped++;
  }
  return wiped;
}

static ShareSlot* Claim(ShareFile* file, ProcessState* state) {
  int alive;
  uint64_t self = (uint64_t)getpid() | (uint64_t)StartTime("self", &alive) << 32;
  uint64_t incarnation = Incarnation();
  for (int i = 0; i < kShareSlots; i++) {
    if (Load(&file->slots[i].owner) != self) continue;
    if (file->slots[i].incarnation != incarnation) Clear(&file->slots[i]);
    file->slots[i].incarnation = incarnation;
    return state->slot = i + 1, &file->slots[i];
  }
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < kShareSlots; i++) {
      if (!Swap(&file->slots[i].owner, 0, self)) continue;
      file->slots[i].incarnation = incarnation;
      return state->slot = i + 1, &file->slots[i];
    }
    if (!Reclaim(file)) break;
  }
  return NULL;
}

// This process's slot; NULL: the file is full, or there is none.
static ShareSlot* Mine(void) {
  ShareFile* file = Share();
  ProcessState* state = ProcessStateHere();
  if (!file) return NULL;
  int slot = __atomic_load_n(&state->slot, __ATOMIC_ACQUIRE);
  if (slot) return &file->slots[slot - 1];
  ProcessLock(state);
  ShareSlot* mine = state->slot ? &file->slots[state->slot - 1] : Claim(file, state);
  ProcessUnlock(state);
  return mine;
}

// Pending before used: a charge on its way from one to the other is seen twice at worst, never not at all.
static void Sum(ShareFile* file, int device, uint64_t* used, uint64_t* pending) {
  *used = *pending = 0;
  for (ShareSlot* slot = file->slots; slot < file->slots + kShareSlots; slot++) {
    uint64_t owner = Load(&slot->owner);
    if (!owner || (owner & WIPING)) continue;
    *pending += Load(&slot->charges[device].pending);
    *used += Load(&slot->charges[device].used);
  }
}

int ShareDeviceIndex(uint64_t key) {
  ShareFile* file = Share();
  for (int i = 0; file && i < kShareDevices; i++)
    if (Load(&file->device_keys[i]) == key || Swap(&file->device_keys[i], 0, key) ||
        Load(&file->device_keys[i]) == key)
      return i;
  return -1;
}

// At the edge two requests may see each other before it is known which one fits: then both step back and try
// again.
static int Fit(ShareFile* file, ShareCharge* mine, int device, const uint64_t bytes, uint64_t limit) {
  for (int tries = 0; tries < kMostTries; tries++) {
    uint64_t used, pending;
    Add(&mine->pending, bytes);
    Sum(file, device, &used, &pending);
    int fits = used + pending <= limit;
    if (fits) Add(&mine->used, bytes);
    Add(&mine->pending, -bytes);
    if (fits) return 1;
    if (used + bytes > limit && !Reclaim(file)) return 0;
    sched_yield();
  }
  return 0;
}

int ShareTryCharge(int device, uint64_t bytes, uint64_t limit) {
  ShareSlot* slot = Mine();
  if (!slot) return !limit;
  ShareCharge* mine = &slot->charges[device];
  if (!limit) return Add(&mine->used, bytes), 1;
  if (bytes <= limit && Fit(Share(), mine, device, bytes, limit)) return 1;
  Add(&slot->denied, 1);
  return 0;
}

void ShareRelease(int device, uint64_t bytes) {
  ShareSlot* slot = Mine();
  if (slot) Add(&slot->charges[device].used, -bytes);
}

uint64_t ShareUsed(int device) {
  ShareFile* file = Share();
  if (!file) return 0;
  uint64_t used, pending;
  Reclaim(file);
  Sum(file, device, &used, &pending);
  return used;
}

void ShareCount(ShareCounter counter, int64_t amount) {
  ShareSlot* slot = Mine();
  if (!slot) return;
  uint64_t* const words[] = {&slot->launches, &slot->contexts, &slot->denied, &slot->throttled_ns};
  Add(words[counter], (uint64_t)amount);
}

uint64_t* ShareBlockedUntil(int device) {
  ShareFile* file = Share();
  return file ? &file->blocked_until_ns[device] : NULL;
}
