// The accounting file of a GPU share: its layout, which the daemon may read, and how processes charge to it.
#pragma once

#include <stdint.h>

/* All zeros is a valid, empty file, so that making it needs no order: whoever comes first makes it long
 * enough. There is no lock in it and no total: a process writes only its own slot, and the sum over all slots
 * is the use of the share. A process that dies leaves its slot; the next one that comes near the limit finds
 * the pid gone and wipes it. */
enum { kShareSlots = 1024, kShareDevices = 32 };

#define SHARE_MAGIC UINT64_C(0x31756d6566745f47)  // "G_tfemu1"

typedef struct ShareCharge {
  uint64_t used;     // bytes that this process holds, or is about to get from the driver
  uint64_t pending;  // bytes that it asks for, before it is known whether they fit
} ShareCharge;

typedef struct ShareSlot {
  uint64_t owner;        // pid | start time << 32; 0: free; bit 31: being wiped by that process
  uint64_t incarnation;  // differs after an exec, which keeps pid and start time but loses the GPU memory
  uint64_t launches;     // kernels and graphs
  uint64_t contexts;     // now open
  uint64_t denied;       // requests refused because of the limit
  uint64_t throttled_ns;
  ShareCharge charges[kShareDevices];
} ShareSlot;

typedef struct ShareFile {
  uint64_t magic;
  uint64_t device_keys[kShareDevices];       // hash of a device's UUID; 0: not yet used
  uint64_t blocked_until_ns[kShareDevices];  // CLOCK_MONOTONIC; no launches before
  ShareSlot slots[kShareSlots];
} ShareFile;

#ifdef __cplusplus
extern "C" {
#endif

// The numbers that a process adds to without asking.
typedef enum { kLaunches, kContexts, kDenied, kThrottledNs } ShareCounter;

// The entry of a device in the file; -1: there is no room for it.
int ShareDeviceIndex(uint64_t key);
// 0: does not fit under `limit` (0: no limit), together with what all processes of the share hold.
int ShareTryCharge(int device, uint64_t bytes, uint64_t limit);
void ShareRelease(int device, uint64_t bytes);
// Bytes that all living processes of the share hold.
uint64_t ShareUsed(int device);
void ShareCount(ShareCounter counter, int64_t amount);
// The time before which the share may launch nothing on the device.
uint64_t* ShareBlockedUntil(int device);

#ifdef __cplusplus
}
#endif
