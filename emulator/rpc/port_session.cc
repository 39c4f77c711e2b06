#include "emulator/rpc/port_session.h"

#include <boost/asio/write.hpp>

#include "emulator/rpc/convert.h"
#include "emulator/rpc/pod_target.h"
#include "emulator/rpc/status.h"

namespace tfemu::rpc {
namespace {

using boost::asio::ip::tcp;
constexpr size_t kMaxQueued = 4;

}  // namespace

void PortSession::Received(const v1::PortInput& input) {
  if (input.has_start() && port_ == 0) {
    if (const auto started = Start(input.start()); !started.ok()) Fail(started.error());
  } else if (!connected_) {
    Fail(Error{Reason::kBadRequest, "a forwarded connection begins with its start"});
  } else if (input.input_case() == v1::PortInput::kData) {
    Write(input.data());
  } else {
    PeerDone();
  }
}

void PortSession::PeerDone() {
  boost::system::error_code ignored;
  if (connected_) socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

Result<void> PortSession::Start(const v1::PortInput::Start& start) {
  port_ = start.port();
  if (port_ < 1 || port_ > 65535) return Error{Reason::kBadRequest, "not a port: " + std::to_string(port_)};
  ASSIGN_OR_RETURN(pod_, RunningPod(backend_.registry, FromMessage(start.pod())));
  Connect("127.0.0.1", pod_.address.empty());
  return {};
}

// A server in the pod may listen on its loopback or only on its address: both are tried, in this order.
void PortSession::Connect(const std::string& address, bool last) {
  backend_.access.OpenSocket(pod_.uid, [self = shared_from_this(), address, last](Result<UniqueFd> socket) {
    if (self->out_ == nullptr) return;
    if (!socket.ok()) {
      self->Fail(socket.error());
      return;
    }
    boost::system::error_code error;
    self->socket_.assign(tcp::v4(), std::move(socket).value().Release(), error);
    const auto host = boost::asio::ip::make_address(address, error);
    if (error) {
      self->Fail(Error{Reason::kInternal, "no socket to " + address + ": " + error.message()});
      return;
    }
    self->socket_.async_connect(
        tcp::endpoint(host, static_cast<unsigned short>(self->port_)),
        [self, last](const boost::system::error_code& result) { self->Connected(result, last); });
  });
}

void PortSession::Connected(const boost::system::error_code& error, bool last) {
  if (out_ == nullptr) return;
  boost::system::error_code ignored;
  if (error && !last) {
    socket_.close(ignored);
    Connect(pod_.address, /*last=*/true);
    return;
  }
  if (error) {
    Fail(Error{Reason::kUnavailable,
               "port " + std::to_string(port_) + " of pod \"" + pod_.name + "\": " + error.message(),
               "does the program in the pod listen there yet? tfemu logs " + pod_.name});
    return;
  }
  connected_ = true;
  socket_.set_option(tcp::no_delay(true), ignored);
  v1::PortOutput message;
  message.set_connected(true);
  out_->Write(std::move(message));
  out_->ReadNext();
  Read();
}

void PortSession::Fail(const Error& error) {
  if (out_ != nullptr) out_->Finish(ToStatus(error));
}

void PortSession::Write(std::string bytes) {
  input_ = std::move(bytes);
  boost::asio::async_write(socket_, boost::asio::buffer(input_),
                           [self = shared_from_this()](const boost::system::error_code&, size_t) {
                             // A broken connection shows in Read.
                             if (self->out_ != nullptr) self->out_->ReadNext();
                           });
}

void PortSession::Read() {
  if (reading_ || !connected_ || out_ == nullptr || out_->Queued() >= kMaxQueued) return;
  reading_ = true;
  socket_.async_read_some(boost::asio::buffer(buffer_),
                          [self = shared_from_this()](const boost::system::error_code& error, size_t size) {
                            self->reading_ = false;
                            if (self->out_ == nullptr) return;
                            if (error) {
                              self->out_->Finish(grpc::Status::OK);
                              return;
                            }
                            v1::PortOutput message;
                            message.set_data(std::string(self->buffer_.data(), size));
                            self->out_->Write(std::move(message));
                            self->Read();
                          });
}

void PortSession::Closed() {
  out_ = nullptr;
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace tfemu::rpc
