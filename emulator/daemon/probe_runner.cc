#include "emulator/daemon/probe_runner.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <optional>

#include "emulator/base/strings.h"

namespace tfemu::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using runtime::ProbeOutcome;
using runtime::ProbeRequest;

constexpr int kMostRedirects = 10;
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

// Where the answer of `request` sends the next one; nullopt for another host, or nowhere.
std::optional<ProbeRequest> Redirected(const ProbeRequest& request, const HttpAnswer& answer) {
  if (answer.status < 300 || answer.status >= 400 || answer.location.empty()) return std::nullopt;
  ProbeRequest next = request;
  if (answer.location.starts_with('/')) {
    next.path = answer.location;
    return next;
  }
  const size_t host = answer.location.find("://");
  if (host == std::string::npos) return std::nullopt;
  const size_t path = std::min(answer.location.find('/', host + 3), answer.location.size());
  const std::string authority = answer.location.substr(host + 3, path - host - 3);
  const size_t colon = std::min(authority.find(':'), authority.size());
  if (authority.substr(0, colon) != request.address && authority.substr(0, colon) != request.host)
    return std::nullopt;
  next.tls = answer.location.starts_with("https:");
  next.port = next.tls ? 443 : 80;
  if (colon < authority.size())
    next.port = static_cast<int>(ParseInt(authority.substr(colon + 1)).value_or(0));
  next.path = path < answer.location.size() ? answer.location.substr(path) : "/";
  return next;
}

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
  else Connect(request, 0, answer);
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

void PodProbeRunner::Connect(const ProbeRequest& request, int hops, const Done& done) {
  access_.OpenSocket(request.pod_uid, [this, request, hops, done](Result<UniqueFd> opened) {
    if (!opened.ok()) return done({false, opened.error().message});
    const auto socket = std::make_shared<tcp::socket>(executor_.context());
    socket->assign(tcp::v4(), std::move(opened).value().Release());
    error_code error;
    const auto address = asio::ip::make_address_v4(request.address, error);
    if (error || request.port == 0) return done({false, "the container has no such port"});
    socket->async_connect({address, static_cast<uint16_t>(request.port)}, [this, socket, request, hops,
                                                                           done](const error_code& failed) {
      if (failed) return done({false, DialError(request, failed)});
      if (request.type == ProbeRequest::Type::kHttp)
        return GetHttp(std::move(*socket), request, [this, request, done, hops](const HttpAnswer& answer) {
          OnAnswer(request, answer, hops, done);
        });
      if (request.type == ProbeRequest::Type::kGrpc)
        return ProbeGrpc(UniqueFd(socket->release()), request, FromGrpc(done));
      done({true, ""});
    });
  });
}

void PodProbeRunner::OnAnswer(const ProbeRequest& request, const HttpAnswer& answer, int hops,
                              const Done& done) {
  const std::string url = std::string("Get \"") + (request.tls ? "https" : "http") + "://" + request.address +
                          ":" + std::to_string(request.port) + request.path + "\"";
  if (!answer.problem.empty()) return done({false, url + ": " + answer.problem});
  if (answer.status < 200 || answer.status >= 400)
    return done({false, "HTTP probe failed with statuscode: " + std::to_string(answer.status)});
  const auto next = Redirected(request, answer);
  if (!next) return done({true, ""});
  if (hops + 1 >= kMostRedirects) return done({false, url + ": stopped after 10 redirects"});
  Connect(*next, hops + 1, done);
}

std::function<void(const ProbeOutcome&, GrpcCall)> PodProbeRunner::FromGrpc(const Done& done) {
  return [this, done](const ProbeOutcome& outcome, GrpcCall call) {
    executor_.Post([done, outcome, call = std::move(call)] { done(outcome); });
  };
}

}  // namespace tfemu::daemon
