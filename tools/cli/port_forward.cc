// tfemu port-forward.
#include <CLI/CLI.hpp>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <list>

#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"
#include "tools/cli/pod_pick.h"
#include "tools/cli/port_mapping.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

using boost::asio::ip::tcp;

struct Options {
  std::string target, address = "127.0.0.1";
  std::vector<std::string> ports;
};

// One accepted connection and its stream.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Session& session, tcp::socket socket) : session_(session), socket_(std::move(socket)) {}

  void Start(rpc::Client& client, const api::ObjectKey& pod, int port) {
    call_ = client.PortForward(
        session_.executor(),
        {.message = [self = shared_from_this()](rpc::v1::PortOutput& output) { self->OnOutput(output); },
         .written = [self = shared_from_this()] { self->Read(); },
         .done = [self = shared_from_this()](const Result<void>& result) { self->OnDone(result); }});
    rpc::v1::PortInput start;
    *start.mutable_start()->mutable_pod() = ToMessage(pod);
    start.mutable_start()->set_port(port);
    call_->Write(std::move(start));
  }

 private:
  void OnOutput(rpc::v1::PortOutput& output) {
    if (output.has_connected()) {
      connected_ = true;
      Read();
      return;
    }
    // A write to the loopback is as good as done; a client that reads nothing blocks only itself for long.
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(output.data()), error);
    if (error) call_->Cancel();
  }

  void Read() {
    if (!connected_ || reading_ || ended_ || call_->Queued() > 2) return;
    reading_ = true;
    socket_.async_read_some(boost::asio::buffer(buffer_),
                            [self = shared_from_this()](const boost::system::error_code& error, size_t size) {
                              self->reading_ = false;
                              rpc::v1::PortInput input;
                              if (error) {
                                self->ended_ = true;
                                if (error != boost::asio::error::eof) self->call_->Cancel();
                                input.set_closed(true);
                              } else {
                                input.set_data(std::string(self->buffer_.data(), size));
                              }
                              self->call_->Write(std::move(input));
                              self->Read();
                            });
  }

  void OnDone(const Result<void>& result) {
    ended_ = true;
    if (!result.ok() && result.error().message != "CANCELLED" && !connected_)
      session_.terminal.ShowError(result.error());
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  Session& session_;
  tcp::socket socket_;
  std::shared_ptr<rpc::PortCall> call_;
  std::array<char, 65536> buffer_;
  bool connected_ = false, reading_ = false, ended_ = false;
};

class Forwarder {
 public:
  Forwarder(Session& session, rpc::Client& client, Target target)
      : session_(session), client_(client), target_(std::move(target)) {}

  Result<void> Listen(const std::string& address, const PortMapping& mapping) {
    boost::system::error_code error;
    const auto host = boost::asio::ip::make_address(address, error);
    if (error) return Error{Reason::kBadRequest, "not an address: \"" + address + "\""};
    auto& listener = listeners_.emplace_back(Listener{tcp::acceptor(session_.context()), mapping});
    const tcp::endpoint endpoint(host, static_cast<unsigned short>(mapping.local));
    listener.acceptor.open(endpoint.protocol(), error);
    if (!error) listener.acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) listener.acceptor.bind(endpoint, error);
    if (!error) listener.acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
    if (error == boost::asio::error::address_in_use)
      return Error{Reason::kConflict,
                   "port " + std::to_string(mapping.local) + " of " + address + " is in use",
                   "choose another: tfemu port-forward ... " + std::to_string(mapping.local + 1) + ":" +
                       mapping.remote + ", or 0:" + mapping.remote + " for any"};
    if (error) return Error{Reason::kUnavailable, "cannot listen on " + address + ": " + error.message()};
    session_.terminal.Print("Forwarding from " + address + ":" +
                            std::to_string(listener.acceptor.local_endpoint().port()) + " -> " +
                            mapping.remote + "\n");
    Accept(listener);
    return {};
  }

  // The pod is looked up for each connection: a deployment may have another one by now.
  Result<std::pair<api::ObjectKey, int>> Destination(const std::string& remote) {
    ASSIGN_OR_RETURN(const auto picked, PickPod(client_, target_, session_.ns()));
    const auto number = ParseInt(remote);
    int port = number ? static_cast<int>(*number) : api::NamedPort(picked.pod, remote);
    if (picked.service && number) port = api::TargetPort(*picked.service, port, picked.pod);
    if (port == 0)
      return Error{Reason::kNotFound,
                   std::string(target_.kind->singular) + "/" + target_.name + " has no port " + remote};
    return std::pair{picked.pod.key(), port};
  }

 private:
  struct Listener {
    tcp::acceptor acceptor;
    PortMapping mapping;
  };

  void Accept(Listener& listener) {
    listener.acceptor.async_accept(
        [this, &listener](const boost::system::error_code& error, tcp::socket socket) {
          if (!error) {
            const auto destination = Destination(listener.mapping.remote);
            if (destination.ok())
              std::make_shared<Connection>(session_, std::move(socket))
                  ->Start(client_, destination.value().first, destination.value().second);
            else session_.terminal.ShowError(destination.error());
          }
          Accept(listener);
        });
  }

  Session& session_;
  rpc::Client& client_;
  Target target_;
  std::list<Listener> listeners_;
};

int PortForward(Session& session, const Options& options) {
  const auto target = ParseTarget(options.target, "Pod");
  if (!target.ok()) return session.Usage(target.error().message, target.error().hint);
  std::vector<PortMapping> mappings;
  for (const auto& text : options.ports) {
    auto mapping = ParsePortMapping(text);
    if (!mapping.ok()) return session.Usage(mapping.error().message, mapping.error().hint);
    mappings.push_back(std::move(mapping).value());
  }
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  Forwarder forwarder(session, *client.value(), target.value());
  for (auto& mapping : mappings) {
    const auto destination = forwarder.Destination(mapping.remote);
    if (!destination.ok()) return session.Fail(destination.error());
    if (mapping.local < 0) mapping.local = destination.value().second;
  }
  for (const auto& mapping : mappings)
    if (const auto listening = forwarder.Listen(options.address, mapping); !listening.ok())
      return listening.error().reason == Reason::kBadRequest ? session.Usage(listening.error().message)
                                                             : session.Fail(listening.error());
  boost::asio::signal_set signals(session.context(), SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code&, int) { session.context().stop(); });
  session.context().run();
  return kOk;
}

}  // namespace

// "6006", "8080:6006", ":6006", "0:6006", "8080:http"
Result<PortMapping> ParsePortMapping(const std::string& text) {
  const Error wrong{Reason::kBadRequest, "not a port: \"" + text + "\"",
                    "write LOCAL:REMOTE or REMOTE, as in 6006:6006"};
  const auto parts = Split(text, ':');
  if (parts.size() > 2 || parts.back().empty()) return wrong;
  const auto in_range = [](const std::optional<int64_t>& port, int64_t low) {
    return port && *port >= low && *port < 65536;
  };
  const auto remote = ParseInt(parts.back());
  if (remote && !in_range(remote, 1)) return wrong;
  if (parts.size() == 1) return PortMapping{remote ? static_cast<int>(*remote) : -1, text};
  if (parts.front().empty()) return PortMapping{0, parts.back()};
  const auto local = ParseInt(parts.front());
  if (!in_range(local, 0)) return wrong;
  return PortMapping{static_cast<int>(*local), parts.back()};
}

void AddPortForward(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("port-forward", "Make ports of a pod reachable on this host, until Ctrl-C");
  verb->add_option("target", options->target, "POD, deployment/NAME, service/NAME, tfjob/NAME")->required();
  verb->add_option("ports", options->ports, "[LOCAL:]REMOTE; LOCAL 0 takes any free one")->required();
  verb->add_option("--address", options->address, "Listen here (127.0.0.1)");
  verb->footer(
      "Examples:\n  tfemu port-forward deployment/tensorboard 6006:6006\n  tfemu port-forward web-0 0:8080");
  verb->callback(
      [=, &session] { session.action = [&session, options] { return PortForward(session, *options); }; });
}

}  // namespace tfemu::cli
