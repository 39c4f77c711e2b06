// What this process has got from the driver, by handle, so that a free knows what to give back.
#pragma once

#include <stdint.h>

#include "runtime/gpu/shim/process_state.h"

typedef enum {
  kMemory = 1,  // device pointers of all kinds
  kPhysical,    // cuMemCreate: lives until its last reference and its last mapping are gone
  kMapping,     // an address range; `link` is the kPhysical's handle
  kArray,
  kPool,            // no memory of its own: says on which device it allocates
  kPrimaryContext,  // key: the device, `link`: the context
} HoldingKind;

struct Holding {
  uint64_t key;
  uint64_t size;
  uint64_t link;  // kMemory, kArray: the context whose end frees it, 0: none
  int32_t ordinal;
  uint32_t references, mappings;
  uint8_t kind;  // 0: this place in the table is empty
};

// 0: no memory for the table.
int HoldingPut(const Holding* holding);
// Takes it out of the table; 0: not there.
int HoldingTake(HoldingKind kind, uint64_t key, Holding* out);
int HoldingFind(HoldingKind kind, uint64_t key, Holding* out);
// Takes out any one whose link is this one.
int HoldingTakeLinked(HoldingKind kind, uint64_t link, Holding* out);
// Takes out any mapping that begins in the range.
int HoldingTakeMapping(uint64_t begin, uint64_t size, Holding* out);
// Adds to the counts of a kPhysical; once both are 0 it is taken out and 1 returned, with it in `out`.
int HoldingRefer(uint64_t handle, int references, int mappings, Holding* out);
