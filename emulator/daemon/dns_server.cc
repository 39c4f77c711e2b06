#include "emulator/daemon/dns_server.h"

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <list>

#include "emulator/manager/lister.h"

namespace tfemu::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::ip::udp;
using boost::system::error_code;

constexpr size_t kDatagram = 512, kMessage = 65535, kMostConnections = 64;

// One client over TCP: two bytes of length, a message, and again until it closes.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const DnsServer& server) : socket_(std::move(socket)), server_(server) {}

  void Read() {
    asio::async_read(socket_, asio::buffer(length_),
                     [self = shared_from_this()](const error_code& error, size_t) {
                       if (!error) self->ReadBody();
                     });
  }
  void Close() {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  void ReadBody() {
    body_.resize(static_cast<size_t>(length_[0]) << 8 | length_[1]);
    asio::async_read(socket_, asio::buffer(body_),
                     [self = shared_from_this()](const error_code& error, size_t) {
                       if (!error) self->Reply();
                     });
  }
  void Reply() {
    const DnsBytes answer =
        AnswerDns(body_.data(), body_.size(), kMessage, [this](const auto& q) { return server_.Resolve(q); });
    if (answer.empty()) return;
    body_ = {static_cast<uint8_t>(answer.size() >> 8), static_cast<uint8_t>(answer.size())};
    body_.insert(body_.end(), answer.begin(), answer.end());
    asio::async_write(socket_, asio::buffer(body_),
                      [self = shared_from_this()](const error_code& error, size_t) {
                        if (!error) self->Read();
                      });
  }

  tcp::socket socket_;
  const DnsServer& server_;
  std::array<uint8_t, 2> length_{};
  DnsBytes body_;
};

}  // namespace

struct DnsServer::Sockets {
  explicit Sockets(asio::io_context& context) : datagram(context), acceptor(context) {}
  udp::socket datagram;
  udp::endpoint peer;
  std::array<uint8_t, kDatagram> buffer{};
  tcp::acceptor acceptor;
  std::list<std::weak_ptr<Connection>> connections;

  void Receive(const DnsServer& server) {
    datagram.async_receive_from(
        asio::buffer(buffer), peer, [this, &server](const error_code& error, size_t size) {
          if (error == asio::error::operation_aborted) return;
          if (!error) {
            const DnsBytes answer =
                AnswerDns(buffer.data(), size, kDatagram, [&](const auto& q) { return server.Resolve(q); });
            error_code ignored;  // a client that is gone, or a full buffer: it asks again
            if (!answer.empty()) datagram.send_to(asio::buffer(answer), peer, 0, ignored);
          }
          Receive(server);
        });
  }

  void Accept(const DnsServer& server) {
    acceptor.async_accept([this, &server](const error_code& error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      std::erase_if(connections, [](const auto& connection) { return connection.expired(); });
      if (!error && connections.size() < kMostConnections) {
        const auto connection = std::make_shared<Connection>(std::move(socket), server);
        connections.push_back(connection);
        connection->Read();
      }
      Accept(server);
    });
  }
};

DnsServer::DnsServer(io::AsioExecutor& executor, const store::Store& store, std::string custom_domain)
    : executor_(executor),
      store_(store),
      custom_domain_(std::move(custom_domain)),
      sockets_(std::make_unique<Sockets>(executor.context())) {}

DnsServer::~DnsServer() {
  for (const auto& weak : sockets_->connections)
    if (const auto connection = weak.lock()) connection->Close();
}

void DnsServer::ServeUdp(UniqueFd socket) {
  sockets_->datagram.assign(udp::v4(), socket.Release());
  sockets_->Receive(*this);
}

void DnsServer::ServeTcp(UniqueFd socket) {
  sockets_->acceptor.assign(tcp::v4(), socket.Release());
  sockets_->Accept(*this);
}

controllers::DnsAnswer DnsServer::Resolve(const controllers::DnsQuestion& question) const {
  controllers::DnsView view;
  view.custom_domain = custom_domain_;
  view.service = [this](const std::string& ns, const std::string& name) -> std::optional<api::Service> {
    const auto object = store_.Get({"Service", ns, name});
    if (!object.ok()) return std::nullopt;
    return api::DecodeService(object.value());
  };
  view.services = [this] { return manager::ListAll(store_, {"Service", ""}, api::DecodeService); };
  view.pods = [this](const std::string& ns) { return manager::ListAll(store_, {"Pod", ns}, api::DecodePod); };
  return controllers::Resolve(view, question);
}

}  // namespace tfemu::daemon
