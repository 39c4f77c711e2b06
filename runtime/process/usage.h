// What running containers use, read from /proc: the same at every cgroup version and without one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace tfemu::process {

struct Usage {
  int64_t cpu_ns = 0;        // of processes that live, since they began
  int64_t memory_bytes = 0;  // resident
};

// Of every process in the pid namespace of each of these processes (host pids), by that pid. One that is gone
// has no entry.
std::map<int, Usage> ReadUsage(const std::vector<int>& pids);

}  // namespace tfemu::process
