// Keeping a process small after its start, and after a burst of work.
#pragma once

namespace tfemu::io {

// Unmaps the program's code pages (its own and its libraries'), most of which were only needed to start: what
// is still in use comes back from the page cache at a microsecond a fault. Call it once, when the start is
// over.
void ForgetStartupCode();

// What the allocator holds and nobody uses goes back to the host; milliseconds.
void ReturnFreeMemory();

}  // namespace tfemu::io
