// Why an operation was refused, in the words of the Kubernetes API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfemu {

// The StatusReasons a caller can sensibly branch on, and no others.
enum class Reason {
  kNotFound,
  kAlreadyExists,
  kConflict,
  kInvalid,     // the document is understood and wrong
  kBadRequest,  // the request is not understood
  kForbidden,
  kExpired,      // a watch that starts before the kept history
  kUnavailable,  // try again: a peer or a resource is not there now
  kTimeout,
  kInternal,
};

std::string_view ToString(Reason reason);

// One field of a document, as a path in Kubernetes' notation: `spec.containers[0].image`.
struct FieldMessage {
  std::string field;
  std::string message;
  friend bool operator==(const FieldMessage&, const FieldMessage&) = default;
};

struct [[nodiscard]] Error {
  Reason reason = Reason::kInternal;
  std::string message;                    // one line, without a final period
  std::string hint = {};                  // what the user could do about it; may have several lines
  std::vector<FieldMessage> fields = {};  // the fields at fault, when the reason is kInvalid
};

}  // namespace tfemu
