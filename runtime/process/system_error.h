// Errors of system calls as this project's Error.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "emulator/base/error.h"

namespace tfemu::process {

inline Error SystemError(const std::string& what, int error = errno) {
  Reason reason = Reason::kInternal;
  if (error == ENOENT) reason = Reason::kNotFound;
  if (error == EPERM || error == EACCES) reason = Reason::kForbidden;
  return {.reason = reason, .message = what + ": " + ::strerror(error)};
}

}  // namespace tfemu::process
