#include "runtime/supervisor/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::supervisor {
namespace {

constexpr const char* kNames[] = {"CHOWN",
                                  "DAC_OVERRIDE",
                                  "DAC_READ_SEARCH",
                                  "FOWNER",
                                  "FSETID",
                                  "KILL",
                                  "SETGID",
                                  "SETUID",
                                  "SETPCAP",
                                  "LINUX_IMMUTABLE",
                                  "NET_BIND_SERVICE",
                                  "NET_BROADCAST",
                                  "NET_ADMIN",
                                  "NET_RAW",
                                  "IPC_LOCK",
                                  "IPC_OWNER",
                                  "SYS_MODULE",
                                  "SYS_RAWIO",
                                  "SYS_CHROOT",
                                  "SYS_PTRACE",
                                  "SYS_PACCT",
                                  "SYS_ADMIN",
                                  "SYS_BOOT",
                                  "SYS_NICE",
                                  "SYS_RESOURCE",
                                  "SYS_TIME",
                                  "SYS_TTY_CONFIG",
                                  "MKNOD",
                                  "LEASE",
                                  "AUDIT_WRITE",
                                  "AUDIT_CONTROL",
                                  "SETFCAP",
                                  "MAC_OVERRIDE",
                                  "MAC_ADMIN",
                                  "SYSLOG",
                                  "WAKE_ALARM",
                                  "BLOCK_SUSPEND",
                                  "AUDIT_READ",
                                  "PERFMON",
                                  "BPF",
                                  "CHECKPOINT_RESTORE"};
static_assert(std::size(kNames) == CAP_CHECKPOINT_RESTORE + 1);

constexpr uint64_t Bit(int capability) { return uint64_t{1} << capability; }
constexpr uint64_t kAll = Bit(static_cast<int>(std::size(kNames))) - 1;
constexpr uint64_t kUsual = Bit(CAP_CHOWN) | Bit(CAP_DAC_OVERRIDE) | Bit(CAP_FSETID) | Bit(CAP_FOWNER) |
                            Bit(CAP_NET_RAW) | Bit(CAP_SETGID) | Bit(CAP_SETUID) | Bit(CAP_SETFCAP) |
                            Bit(CAP_SETPCAP) | Bit(CAP_NET_BIND_SERVICE) | Bit(CAP_KILL) |
                            Bit(CAP_SYS_CHROOT) | Bit(CAP_AUDIT_WRITE);

bool IsAll(const std::string& name) { return ToLower(name) == "all"; }

// 0 for ALL, which comes before the others.
Result<uint64_t> Named(const std::string& text) {
  const std::string lower = ToLower(text);
  const std::string name = lower.starts_with("cap_") ? lower.substr(4) : lower;
  if (name == "all") return uint64_t{0};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (ToLower(kNames[i]) == name) return Bit(static_cast<int>(i));
  return Error{Reason::kInvalid, "unknown capability \"" + text + "\""};
}

}  // namespace

Result<uint64_t> CapabilitySet(const runtime::Privileges& privileges) {
  uint64_t set = kUsual;
  if (std::ranges::any_of(privileges.add, IsAll)) set = kAll;
  if (std::ranges::any_of(privileges.drop, IsAll)) set = 0;
  for (const std::string& name : privileges.add) {
    ASSIGN_OR_RETURN(const uint64_t bit, Named(name));
    set |= bit;
  }
  for (const std::string& name : privileges.drop) {
    ASSIGN_OR_RETURN(const uint64_t bit, Named(name));
    set &= ~bit;
  }
  return set & ~Bit(CAP_MKNOD);
}

void BoundCapabilities(uint64_t keep) {
  for (int capability = 0; capability < 64; ++capability)  // the kernel refuses the ones it does not know
    if (!(keep >> capability & 1) && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) &&
        capability > CAP_LAST_CAP)
      break;
}

void KeepCapabilities(uint64_t keep) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data)) return;
  for (int half = 0; half < 2; ++half) {
    const auto mask = static_cast<uint32_t>(keep >> (32 * half));
    data[half].effective &= mask;
    data[half].permitted &= mask;
    data[half].inheritable = 0;
  }
  ::syscall(SYS_capset, &header, data);
}

}  // namespace tfemu::supervisor
