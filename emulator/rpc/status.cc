#include "emulator/rpc/status.h"

#include "tfemu.pb.h"

namespace tfemu::rpc {
namespace {

grpc::StatusCode CodeOf(Reason reason) {
  switch (reason) {
    case Reason::kNotFound: return grpc::StatusCode::NOT_FOUND;
    case Reason::kAlreadyExists: return grpc::StatusCode::ALREADY_EXISTS;
    case Reason::kConflict: return grpc::StatusCode::ABORTED;
    case Reason::kInvalid:
    case Reason::kBadRequest: return grpc::StatusCode::INVALID_ARGUMENT;
    case Reason::kForbidden: return grpc::StatusCode::PERMISSION_DENIED;
    case Reason::kExpired: return grpc::StatusCode::OUT_OF_RANGE;
    case Reason::kUnavailable: return grpc::StatusCode::UNAVAILABLE;
    case Reason::kTimeout: return grpc::StatusCode::DEADLINE_EXCEEDED;
    case Reason::kInternal: return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::INTERNAL;
}

// Details travel in an HTTP/2 header, whose size is limited.
constexpr size_t kMaxDetails = 6000, kMaxText = 2000;

std::string Shortened(const std::string& text) {
  return text.size() <= kMaxText ? text : text.substr(0, kMaxText) + "...";
}

Reason ReasonOf(grpc::StatusCode code) {
  if (code == grpc::StatusCode::UNAVAILABLE) return Reason::kUnavailable;
  if (code == grpc::StatusCode::DEADLINE_EXCEEDED) return Reason::kTimeout;
  return Reason::kInternal;
}

}  // namespace

grpc::Status ToStatus(const Error& error) {
  v1::Failure failure;
  failure.set_reason(static_cast<int>(error.reason));
  failure.set_message(Shortened(error.message));
  failure.set_hint(Shortened(error.hint));
  for (const auto& field : error.fields) {
    if (failure.ByteSizeLong() > kMaxDetails) break;
    auto* entry = failure.add_fields();
    entry->set_field(field.field);
    entry->set_message(Shortened(field.message));
  }
  return {CodeOf(error.reason), Shortened(error.message), failure.SerializeAsString()};
}

Error FromStatus(const grpc::Status& status) {
  v1::Failure failure;
  if (status.error_details().empty() || !failure.ParseFromString(status.error_details()))
    return Error{ReasonOf(status.error_code()),
                 "the connection to the cluster broke: " + status.error_message(),
                 status.error_code() == grpc::StatusCode::UNAVAILABLE ? "does it still run? tfemu info" : ""};
  Error error{static_cast<Reason>(failure.reason()), failure.message(), failure.hint()};
  for (const auto& field : failure.fields()) error.fields.push_back({field.field(), field.message()});
  return error;
}

}  // namespace tfemu::rpc
