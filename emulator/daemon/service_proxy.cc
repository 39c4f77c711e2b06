#include "emulator/daemon/service_proxy.h"

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "emulator/manager/lister.h"

namespace tfemu::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Two sockets whose bytes go to each other until both have said all they had to say.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  Relay(tcp::socket client, tcp::socket pod) : client_(std::move(client)), pod_(std::move(pod)) {}
  void Start() {
    Pump(client_, pod_, to_pod_);
    Pump(pod_, client_, to_client_);
  }

 private:
  using Buffer = std::array<char, 16384>;

  void Pump(tcp::socket& from, tcp::socket& to, Buffer& buffer) {
    from.async_read_some(asio::buffer(buffer), [this, self = shared_from_this(), &from, &to, &buffer](
                                                   const error_code& error, size_t size) {
      error_code ignored;
      if (error) {
        to.shutdown(tcp::socket::shutdown_send, ignored);
        return;
      }
      asio::async_write(to, asio::buffer(buffer, size),
                        [this, self, &from, &to, &buffer](const error_code& failed, size_t) {
                          error_code no_matter;
                          if (failed) from.close(no_matter);
                          else Pump(from, to, buffer);
                        });
    });
  }

  tcp::socket client_, pod_;
  Buffer to_pod_{}, to_client_{};
};

}  // namespace

class ServiceProxy::Listener : public std::enable_shared_from_this<Listener> {
 public:
  using Chooser = std::function<std::optional<Backend>()>;

  Listener(asio::io_context& context, const Sockets& sockets, Chooser choose)
      : acceptor_(context), sockets_(sockets), choose_(std::move(choose)) {}

  void Serve(UniqueFd socket) {
    if (closed_) return;
    acceptor_.assign(tcp::v4(), socket.Release());
    Accept();
  }
  void Close() {
    closed_ = true;
    error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  void Accept() {
    acceptor_.async_accept([self = shared_from_this()](const error_code& error, tcp::socket client) {
      if (self->closed_ || error == asio::error::operation_aborted) return;
      if (!error) self->Connect(std::make_shared<tcp::socket>(std::move(client)));
      self->Accept();
    });
  }

  // Without a ready pod the connection is closed, as a refused one is.
  void Connect(std::shared_ptr<tcp::socket> client) {
    const auto backend = choose_();
    if (!backend) return;
    sockets_.open(backend->uid, [client, backend = *backend](Result<UniqueFd> socket) {
      if (!socket.ok()) return;
      const auto pod = std::make_shared<tcp::socket>(client->get_executor());
      pod->assign(tcp::v4(), std::move(socket).value().Release());
      const tcp::endpoint target(asio::ip::make_address_v4(backend.address),
                                 static_cast<uint16_t>(backend.port));
      pod->async_connect(target, [client, pod](const error_code& error) {
        if (!error) std::make_shared<Relay>(std::move(*client), std::move(*pod))->Start();
      });
    });
  }

  tcp::acceptor acceptor_;
  const Sockets& sockets_;
  Chooser choose_;
  bool closed_ = false;
};

ServiceProxy::ServiceProxy(io::AsioExecutor& executor, const store::Store& store, Sockets sockets)
    : executor_(executor), store_(store), sockets_(std::move(sockets)) {}

ServiceProxy::~ServiceProxy() {
  for (const auto& [name, listener] : listeners_) listener->Close();
}

void ServiceProxy::OnWatch(const store::WatchEvent& event) {
  if (event.object.key().kind != "Service") return;
  api::Service service = api::DecodeService(event.object);
  if (event.type == store::WatchType::kDeleted) service.ports.clear();
  Sync(service);
}

void ServiceProxy::Sync(const api::Service& service) {
  std::set<std::string>& known = of_service_[service.meta.uid];
  std::set<std::string> wanted;
  for (const api::ServicePort& port : service.ports) {
    if (service.headless() || service.cluster_ip.empty() || port.protocol != "TCP") continue;
    const std::string name = service.cluster_ip + ":" + std::to_string(port.port);
    wanted.insert(name);
    if (!known.insert(name).second) continue;
    const api::ObjectKey key{"Service", service.meta.ns, service.meta.name};
    const auto listener = std::make_shared<Listener>(
        executor_.context(), sockets_, [this, key, number = port.port] { return Pick(key, number); });
    listeners_[name] = listener;
    sockets_.listen(service.cluster_ip, port.port, [listener](Result<UniqueFd> socket) {
      if (socket.ok()) listener->Serve(std::move(socket).value());
    });
  }
  for (auto it = known.begin(); it != known.end();) {
    if (wanted.contains(*it)) {
      ++it;
      continue;
    }
    listeners_[*it]->Close();
    listeners_.erase(*it);
    it = known.erase(it);
  }
  if (known.empty()) of_service_.erase(service.meta.uid);
}

std::optional<ServiceProxy::Backend> ServiceProxy::Pick(const api::ObjectKey& key, int port) {
  const auto object = store_.Get(key);
  if (!object.ok()) return std::nullopt;
  const api::Service service = api::DecodeService(object.value());
  const auto pods = manager::ListAll(store_, {"Pod", key.ns}, api::DecodePod);
  const auto endpoints = api::Endpoints(service, pods);
  for (const api::ServicePort& candidate : service.ports) {
    if (candidate.port != port || endpoints.empty()) continue;
    size_t& turn = turn_[object.value().uid() + ":" + std::to_string(port)];
    const api::Pod& pod = *endpoints[turn++ % endpoints.size()];
    return Backend{pod.meta.uid, pod.status.pod_ip, api::TargetPort(candidate, pod)};
  }
  return std::nullopt;
}

}  // namespace tfemu::daemon
