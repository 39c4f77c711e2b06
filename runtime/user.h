// Which user a program runs as, as an image says and its root's own /etc/passwd explains.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "emulator/base/result.h"

namespace tfemu::runtime {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::string home = "/";
};

// `text` is "user" or "user:group", with numbers or names; a number need not be in `passwd`.
Result<User> LookUpUser(const std::string& text, const std::string& passwd, const std::string& group);

}  // namespace tfemu::runtime
