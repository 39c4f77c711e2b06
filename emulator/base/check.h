// CHECK aborts on a broken invariant, in every build type: a bug is not an error to handle.
#pragma once

namespace tfemu {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace tfemu

#define CHECK_THAT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::tfemu::CheckFailed(#condition, __FILE__, __LINE__))
