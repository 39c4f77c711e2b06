// Messages with descriptors over a unix stream socket: a fixed header, the body, descriptors with the first
// byte.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/base/result.h"
#include "runtime/process/fd_watch.h"

namespace tfemu::process {

class Channel {
 public:
  using Descriptors = std::vector<UniqueFd>;
  // `body` is valid during the call.
  using MessageHandler = std::function<void(std::string_view body, Descriptors descriptors)>;

  Channel(boost::asio::io_context& context, UniqueFd socket);

  // `on_closed` is the last call: the peer is gone or spoke nonsense. Handlers may destroy the channel.
  void Start(MessageHandler on_message, std::function<void()> on_closed);
  // Never blocks; what the socket does not take now waits in memory.
  void Send(std::string body, Descriptors descriptors = {});
  // For the short moments outside the loop: one message, waiting for it at most `timeout_ms`.
  Result<std::string> ReceiveBlocking(int timeout_ms);
  // Handles what the peer sent before it went, as if the loop had been quicker.
  void ReadRest();
  // Writes out what waits, for at most `timeout_ms`.
  void FlushBlocking(int timeout_ms);

 private:
  struct Outgoing {
    std::string bytes;
    Descriptors descriptors;
    size_t sent = 0;
  };
  void OnReadable();
  void Flush();
  bool ReadSome();  // false: closed
  bool Dispatch();  // false: nonsense, or this channel was destroyed by a handler
  bool TakeMessage(std::string& body, Descriptors& descriptors);

  boost::asio::io_context& context_;
  FdWatch watch_;
  MessageHandler on_message_;
  std::function<void()> on_closed_;
  std::string incoming_;
  std::deque<UniqueFd> incoming_descriptors_;
  std::deque<Outgoing> outgoing_;
  bool nonsense_ = false, waiting_to_write_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::process
