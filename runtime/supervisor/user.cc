#include "runtime/supervisor/user.h"

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/process/files.h"
#include "runtime/process/mount_plan.h"
#include "runtime/process/system_error.h"
#include "runtime/supervisor/capabilities.h"
#include "runtime/user.h"

namespace tfemu::supervisor {

namespace {

Result<void> ChangeUser(const Identity& identity, std::vector<std::string>& environment) {
  const std::string& text = identity.user;
  std::vector<gid_t> groups(identity.groups.begin(), identity.groups.end());
  if (text.empty()) {
    if (!groups.empty() && ::setgroups(groups.size(), groups.data()))
      return process::SystemError("setgroups");
    return {};
  }
  const auto passwd = process::ReadFile("/etc/passwd"), group = process::ReadFile("/etc/group");
  ASSIGN_OR_RETURN(const runtime::User user, runtime::LookUpUser(text, passwd.ok() ? passwd.value() : "",
                                                                 group.ok() ? group.value() : ""));
  if (process::LookUp(environment, "HOME").empty()) environment.push_back("HOME=" + user.home);
  // Programs that open /dev/stdout again need to own the pipe.
  for (int fd = 0; fd < 3; ++fd) (void)!::fchown(fd, user.uid, static_cast<gid_t>(-1));
  groups.insert(groups.begin(), user.groups.begin(), user.groups.end());
  if (::setgroups(groups.size(), groups.data())) return process::SystemError("setgroups");
  if (::setgid(user.gid)) return process::SystemError("setgid");
  if (::setuid(user.uid)) return process::SystemError("setuid");
  return {};
}

}  // namespace

Result<void> BecomeUser(const Identity& identity, std::vector<std::string>& environment) {
  ASSIGN_OR_RETURN(const uint64_t keep, CapabilitySet(identity.privileges));
  BoundCapabilities(keep);
  RETURN_IF_ERROR(ChangeUser(identity, environment));
  KeepCapabilities(keep);
  if (identity.privileges.no_new && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    return process::SystemError("set no_new_privs");
  return {};
}

}  // namespace tfemu::supervisor
