#include "runtime/supervisor/capabilities.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tfemu::supervisor {
namespace {

constexpr int kKept[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FSETID,     CAP_FOWNER,  CAP_NET_RAW,
                         CAP_SETGID, CAP_SETUID,       CAP_SETFCAP,    CAP_SETPCAP, CAP_NET_BIND_SERVICE,
                         CAP_KILL,   CAP_SYS_CHROOT,   CAP_AUDIT_WRITE};

}  // namespace

void KeepContainerCapabilities() {
  uint64_t keep = 0;
  for (const int capability : kKept) keep |= uint64_t{1} << capability;
  for (int capability = 0; capability < 64; ++capability)  // the kernel refuses the ones it does not know
    if (!(keep >> capability & 1) && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) &&
        capability > CAP_LAST_CAP)
      break;
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
