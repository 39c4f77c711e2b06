// One forwarded TCP connection: from the client's stream to a port inside a pod.
#pragma once

#include <array>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "emulator/api/view.h"
#include "emulator/rpc/backend.h"
#include "emulator/rpc/stream.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {

class PortSession final : public StreamSession<v1::PortInput, v1::PortOutput>,
                          public std::enable_shared_from_this<PortSession> {
 public:
  explicit PortSession(const Backend& backend) : backend_(backend), socket_(backend.executor.context()) {}

  void Opened(StreamOut<v1::PortOutput>& out) override { out_ = &out; }
  void Received(const v1::PortInput& input) override;
  void PeerDone() override;
  void Drained() override { Read(); }
  void Closed() override;

 private:
  Result<void> Start(const v1::PortInput::Start& start);
  void Connect(const std::string& address, bool last);
  void Connected(const boost::system::error_code& error, bool last);
  void Fail(const Error& error);
  void Write(std::string bytes);
  void Read();

  Backend backend_;
  StreamOut<v1::PortOutput>* out_ = nullptr;
  api::PodView pod_;
  int port_ = 0;
  boost::asio::ip::tcp::socket socket_;
  std::array<char, 65536> buffer_;
  std::string input_;
  bool connected_ = false, reading_ = false;
};

}  // namespace tfemu::rpc
