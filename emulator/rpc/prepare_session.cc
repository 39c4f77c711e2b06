#include "emulator/rpc/prepare_session.h"

#include "emulator/rpc/status.h"

namespace tfemu::rpc {

// The work goes on when the client leaves: others may wait for the same image.
void PrepareSession::Opened(StreamOut<v1::PrepareReply>& out) {
  out_ = &out;
  const auto image = images_.Find(reference_);
  if (!image.ok()) {
    out_->Finish(ToStatus(image.error()));
    return;
  }
  const auto progress = [self = shared_from_this()](const runtime::PrepareProgress& step) {
    if (self->out_ == nullptr) return;
    v1::PrepareReply reply;
    reply.set_done(step.done);
    reply.set_total(step.total);
    reply.set_text(step.text);
    self->out_->Write(std::move(reply));
  };
  images_.Prepare(image.value(), progress, [self = shared_from_this()](Result<void> result) {
    if (self->out_ != nullptr) self->out_->Finish(result.ok() ? grpc::Status::OK : ToStatus(result.error()));
  });
}

}  // namespace tfemu::rpc
