// A hash table with linear probing, under the process's lock.
#include "runtime/gpu/shim/holdings.h"

#include <stdlib.h>

static size_t Home(const ProcessState* state, uint8_t kind, uint64_t key) {
  uint64_t mixed = (key ^ kind) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(mixed >> 20) & (state->capacity - 1);
}

static Holding* Find(ProcessState* state, uint8_t kind, uint64_t key) {
  if (!state->capacity) return NULL;
  for (size_t i = Home(state, kind, key);; i = (i + 1) & (state->capacity - 1)) {
    Holding* at = &state->holdings[i];
    if (!at->kind) return NULL;
    if (at->kind == kind && at->key == key) return at;
  }
}

static void Insert(ProcessState* state, const Holding* holding) {
  size_t i = Home(state, holding->kind, holding->key);
  while (state->holdings[i].kind) i = (i + 1) & (state->capacity - 1);
  state->holdings[i] = *holding;
  state->count++;
}

static int Grow(ProcessState* state) {
  if (state->capacity && state->count * 4 < state->capacity * 3) return 1;
  ProcessState larger = {.capacity = state->capacity ? state->capacity * 2 : 256};
  larger.holdings = calloc(larger.capacity, sizeof(Holding));
  if (!larger.holdings) return 0;
  for (size_t i = 0; i < state->capacity; i++)
    if (state->holdings[i].kind) Insert(&larger, &state->holdings[i]);
  free(state->holdings);
  state->holdings = larger.holdings;
  state->capacity = larger.capacity;
  return 1;
}

// Closes the gap, so that no search ends too early.
static void Remove(ProcessState* state, Holding* holding) {
  size_t mask = state->capacity - 1, gap = (size_t)(holding - state->holdings);
  for (size_t i = (gap + 1) & mask; state->holdings[i].kind; i = (i + 1) & mask) {
    size_t home = Home(state, state->holdings[i].kind, state->holdings[i].key);
    if (((i - home) & mask) < ((i - gap) & mask)) continue;
    state->holdings[gap] = state->holdings[i];
    gap = i;
  }
  state->holdings[gap].kind = 0;
  state->count--;
}

int HoldingPut(const Holding* holding) {
  ProcessState* state = ProcessStateHere();
  ProcessLock(state);
  Holding* old = Find(state, holding->kind, holding->key);
  int done = old || Grow(state);
  if (old) *old = *holding;
  else if (done) Insert(state, holding);
  ProcessUnlock(state);
  return done;
}

static int Get(HoldingKind kind, uint64_t key, Holding* out, int take) {
  ProcessState* state = ProcessStateHere();
  ProcessLock(state);
  Holding* found = Find(state, (uint8_t)kind, key);
  if (found) *out = *found;
  if (found && take) Remove(state, found);
  ProcessUnlock(state);
  return found != NULL;
}

int HoldingTake(HoldingKind kind, uint64_t key, Holding* out) { return Get(kind, key, out, 1); }

int HoldingFind(HoldingKind kind, uint64_t key, Holding* out) { return Get(kind, key, out, 0); }

// The first of a kind whose link is `begin`, or for a size whose key is in the range.
static int TakeFirst(HoldingKind kind, uint64_t begin, uint64_t size, Holding* out) {
  ProcessState* state = ProcessStateHere();
  int found = 0;
  ProcessLock(state);
  for (size_t i = 0; i < state->capacity && !found; i++) {
    Holding* at = &state->holdings[i];
    if (at->kind != kind || !(size ? at->key - begin < size : at->link == begin)) continue;
    *out = *at;
    Remove(state, at);
    found = 1;
  }
  ProcessUnlock(state);
  return found;
}

int HoldingTakeLinked(HoldingKind kind, uint64_t link, Holding* out) { return TakeFirst(kind, link, 0, out); }

int HoldingTakeMapping(uint64_t begin, uint64_t size, Holding* out) {
  return size && TakeFirst(kMapping, begin, size, out);
}

int HoldingRefer(uint64_t handle, int references, int mappings, Holding* out) {
  ProcessState* state = ProcessStateHere();
  int over = 0;
  ProcessLock(state);
  Holding* found = Find(state, kPhysical, handle);
  if (found) {
    found->references += (uint32_t)references;
    found->mappings += (uint32_t)mappings;
    over = !found->references && !found->mappings;
    *out = *found;
    if (over) Remove(state, found);
  }
  ProcessUnlock(state);
  return over;
}
