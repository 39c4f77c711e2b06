// Which user a container's program runs as, as its image says and its root's own /etc/passwd explains.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "emulator/base/result.h"

namespace tfemu::supervisor {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::string home = "/";
};

// `text` is "user", "user:group", with numbers or names; a number need not be in `passwd`.
Result<User> LookUpUser(const std::string& text, const std::string& passwd, const std::string& group);

// For the child, in its root, before exec: becomes that user and sets HOME unless it is set. "" changes
// nothing.
Result<void> BecomeUser(const std::string& text, std::vector<std::string>& environment);

}  // namespace tfemu::supervisor
