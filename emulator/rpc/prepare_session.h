// Making an image ready, with its progress.
#pragma once

#include <memory>
#include <string>

#include "emulator/rpc/stream.h"
#include "runtime/image.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {

class PrepareSession final : public StreamSession<v1::FindImageRequest, v1::PrepareReply>,
                             public std::enable_shared_from_this<PrepareSession> {
 public:
  PrepareSession(runtime::ImageCatalog& images, std::string reference)
      : images_(images), reference_(std::move(reference)) {}

  void Opened(StreamOut<v1::PrepareReply>& out) override;
  void Closed() override { out_ = nullptr; }

 private:
  runtime::ImageCatalog& images_;
  std::string reference_;
  StreamOut<v1::PrepareReply>* out_ = nullptr;
};

}  // namespace tfemu::rpc
