#include "emulator/daemon/probe_runner.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <memory>

#include "emulator/base/strings.h"

namespace tfemu::daemon {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using runtime::ProbeOutcome;
using runtime::ProbeRequest;

constexpr size_t kMostOutput = 10 * 1024;  // of a command, in the event

// The words of Go's net package.
std::string DialError(const ProbeRequest& request, const error_code& error) {
  return "dial tcp " + request.address + ":" + std::to_string(request.port) +
         ": connect: " + ToLower(error.message());
}

std::string ReadOutput(int fd) {
  std::string text(kMostOutput, '\0');
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  return std::string(Trim(text));
}

// One GET over a socket of the pod's network; itself kept by the handlers.
class HttpGet : public std::enable_shared_from_this<HttpGet> {
 public:
  using Done = std::function<void(const ProbeOutcome&)>;
  HttpGet(tcp::socket socket, const ProbeRequest& request, Done done)
      : socket_(std::move(socket)), request_(request), done_(std::move(done)) {
    message_.method(http::verb::get);
    message_.target(request.path);
    message_.version(11);
    message_.set(http::field::user_agent, "kube-probe/1.33");
    message_.set(http::field::accept, "*/*");
    message_.set(http::field::connection, "close");
    for (const auto& [name, value] : request.headers) message_.set(name, value);
    if (message_.count(http::field::host) == 0)
      message_.set(http::field::host, (request.host.empty() ? request.address : request.host) + ":" +
                                          std::to_string(request.port));
  }

  void Start() {
    http::async_write(socket_, message_, [self = shared_from_this()](const error_code& error, size_t) {
      if (error) return self->Fail(error);
      self->Read();
    });
  }

 private:
  void Read() {
    http::async_read_header(
        socket_, buffer_, parser_, [self = shared_from_this()](const error_code& error, size_t) {
          if (error) return self->Fail(error);
          const int status = self->parser_.get().result_int();
          if (status >= 200 && status < 400) self->done_({true, ""});
          else self->done_({false, "HTTP probe failed with statuscode: " + std::to_string(status)});
        });
  }
  void Fail(const error_code& error) { done_({false, Url() + ": " + error.message()}); }
  std::string Url() const {
    return "Get \"http://" + request_.address + ":" + std::to_string(request_.port) + request_.path + "\"";
  }

  tcp::socket socket_;
  ProbeRequest request_;
  Done done_;
  http::request<http::empty_body> message_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::empty_body> parser_;
};

}  // namespace

void PodProbeRunner::Run(const ProbeRequest& request, std::function<void(const ProbeOutcome&)> done) {
  // Whatever comes first counts: the answer or the end of the time.
  const auto once = std::make_shared<std::function<void(const ProbeOutcome&)>>(std::move(done));
  const Done answer = [once](const ProbeOutcome& outcome) {
    if (const auto call = std::exchange(*once, nullptr)) call(outcome);
  };
  executor_.PostAt(executor_.Now() + request.timeout, [answer, type = request.type] {
    answer({false, type == ProbeRequest::Type::kExec ? "command timed out" : "context deadline exceeded"});
  });
  if (request.type == ProbeRequest::Type::kExec) Exec(request, answer);
  else Connect(request, answer);
}

void PodProbeRunner::Exec(const ProbeRequest& request, const Done& done) {
  const auto output = std::make_shared<UniqueFd>(::memfd_create("probe", MFD_CLOEXEC));
  runtime::ExecLaunch launch{request.container, request.command, false, {}};
  launch.stdio[0].Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const int i : {1, 2}) launch.stdio[i].Reset(::fcntl(output->get(), F_DUPFD_CLOEXEC, 3));
  access_.Exec(request.pod_uid, std::move(launch), [done, output](const Result<int>& code) {
    if (!code.ok()) return done({false, code.error().message});
    done({code.value() == 0, ReadOutput(output->get())});
  });
}

void PodProbeRunner::Connect(const ProbeRequest& request, const Done& done) {
  access_.OpenSocket(request.pod_uid, [this, request, done](Result<UniqueFd> opened) {
    if (!opened.ok()) return done({false, opened.error().message});
    const auto socket = std::make_shared<tcp::socket>(executor_.context());
    socket->assign(tcp::v4(), std::move(opened).value().Release());
    error_code error;
    const auto address = asio::ip::make_address_v4(request.address, error);
    if (error || request.port == 0) return done({false, "the container has no such port"});
    socket->async_connect({address, static_cast<uint16_t>(request.port)},
                          [socket, request, done](const error_code& failed) {
                            if (failed) return done({false, DialError(request, failed)});
                            if (request.type != ProbeRequest::Type::kHttp) return done({true, ""});
                            std::make_shared<HttpGet>(std::move(*socket), request, done)->Start();
                          });
  });
}

}  // namespace tfemu::daemon
