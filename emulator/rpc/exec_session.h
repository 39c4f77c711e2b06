// An exec: a command in a running container, its input and output over one stream.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "emulator/rpc/backend.h"
#include "emulator/rpc/stream.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {

class ExecSession final : public StreamSession<v1::ExecInput, v1::ExecOutput>,
                          public std::enable_shared_from_this<ExecSession> {
 public:
  explicit ExecSession(const Backend& backend)
      : backend_(backend),
        stdin_(backend.executor.context()),
        outputs_{Output(backend.executor.context()), Output(backend.executor.context())} {}

  void Opened(StreamOut<v1::ExecOutput>& out) override { out_ = &out; }
  void Received(const v1::ExecInput& input) override;
  void PeerDone() override;
  void Drained() override;
  void Closed() override;

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  struct Output {
    explicit Output(boost::asio::io_context& context) : descriptor(context) {}
    Descriptor descriptor;
    std::array<char, 32768> buffer;
    bool reading = false;
  };

  Result<void> Start(const v1::ExecInput::Start& start);
  Result<void> OpenTerminal(const v1::ExecInput::Size& size, runtime::ExecLaunch& launch);
  Result<void> OpenPipes(bool with_stdin, runtime::ExecLaunch& launch);
  void WriteInput(std::string bytes);
  void CloseInput();
  void Resize(const v1::ExecInput::Size& size);
  void Read(size_t which);
  void Send(size_t which, size_t size);
  void Exited(const Result<int>& code);

  Backend backend_;
  StreamOut<v1::ExecOutput>* out_ = nullptr;
  Descriptor stdin_;  // with a terminal: its master, as outputs_[0] is too
  std::array<Output, 2> outputs_;
  std::string input_;
  bool terminal_ = false, started_ = false;
};

}  // namespace tfemu::rpc
