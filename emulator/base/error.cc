#include "emulator/base/error.h"

namespace tfemu {

std::string_view ToString(Reason reason) {
  switch (reason) {
    case Reason::kNotFound: return "NotFound";
    case Reason::kAlreadyExists: return "AlreadyExists";
    case Reason::kConflict: return "Conflict";
    case Reason::kInvalid: return "Invalid";
    case Reason::kBadRequest: return "BadRequest";
    case Reason::kForbidden: return "Forbidden";
    case Reason::kExpired: return "Expired";
    case Reason::kUnavailable: return "ServiceUnavailable";
    case Reason::kTimeout: return "Timeout";
    case Reason::kInternal: return "InternalError";
  }
  return "InternalError";
}

}  // namespace tfemu
