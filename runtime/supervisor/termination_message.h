// What a container leaves to be said about its end.
#pragma once

#include <string>

namespace tfemu::supervisor {

// The last 4096 bytes of `file`. When that is empty and `log` is not "", of that log file: the last 80 lines
// of what the container wrote, and of those the last 2048 bytes. The kubelet's limits.
std::string TerminationMessage(const std::string& file, const std::string& log);

}  // namespace tfemu::supervisor
