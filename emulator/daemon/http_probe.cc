#include "emulator/daemon/http_probe.h"

#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>

namespace tfemu::daemon {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;
using runtime::ProbeRequest;

http::request<http::empty_body> MessageOf(const ProbeRequest& request) {
  http::request<http::empty_body> message(http::verb::get, request.path, 11);
  message.set(http::field::user_agent, "kube-probe/1.33");
  message.set(http::field::accept, "*/*");
  message.set(http::field::connection, "close");
  for (const auto& [name, value] : request.headers) message.set(name, value);
  if (message.count(http::field::host) == 0)
    message.set(http::field::host,
                (request.host.empty() ? request.address : request.host) + ":" + std::to_string(request.port));
  return message;
}

// Kept by its handlers. `Stream` is a socket, or TLS over one.
template <typename Stream>
class Get : public std::enable_shared_from_this<Get<Stream>> {
 public:
  using Done = std::function<void(const HttpAnswer&)>;
  Get(Stream stream, const ProbeRequest& request, Done done)
      : stream_(std::move(stream)), message_(MessageOf(request)), done_(std::move(done)) {}

  Stream& stream() { return stream_; }

  void Write() {
    http::async_write(stream_, message_, [self = this->shared_from_this()](const error_code& error, size_t) {
      if (error) return self->Fail(error);
      self->Read();
    });
  }
  void Fail(const error_code& error) { done_({error.message(), 0, ""}); }

 private:
  void Read() {
    http::async_read_header(
        stream_, buffer_, parser_, [self = this->shared_from_this()](const error_code& error, size_t) {
          if (error) return self->Fail(error);
          const auto& answer = self->parser_.get();
          self->done_(
              {"", static_cast<int>(answer.result_int()), std::string(answer[http::field::location])});
        });
  }

  Stream stream_;
  http::request<http::empty_body> message_;
  Done done_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::empty_body> parser_;
};

}  // namespace

void GetHttp(tcp::socket socket, const ProbeRequest& request, std::function<void(const HttpAnswer&)> done) {
  if (!request.tls)
    return std::make_shared<Get<tcp::socket>>(std::move(socket), request, std::move(done))->Write();
  const auto context = std::make_shared<ssl::context>(ssl::context::tls_client);
  context->set_verify_mode(ssl::verify_none);
  using Tls = ssl::stream<tcp::socket>;
  const auto get = std::make_shared<Get<Tls>>(Tls(std::move(socket), *context), request, std::move(done));
  get->stream().async_handshake(ssl::stream_base::client, [get, context](const error_code& error) {
    if (error) return get->Fail(error);
    get->Write();
  });
}

}  // namespace tfemu::daemon
