// The cluster's DNS, at 10.96.0.10 inside the cluster's network namespace, over UDP and TCP.
#pragma once

#include <memory>

#include "emulator/base/unique_fd.h"
#include "emulator/daemon/dns_message.h"
#include "emulator/io/asio_executor.h"
#include "emulator/store/store.h"

namespace tfemu::daemon {

class DnsServer {
 public:
  // `custom_domain`: of names in TF_CONFIG, or "".
  DnsServer(io::AsioExecutor& executor, const store::Store& store, std::string custom_domain);
  ~DnsServer();

  void ServeUdp(UniqueFd socket);  // bound
  void ServeTcp(UniqueFd socket);  // listening
  controllers::DnsAnswer Resolve(const controllers::DnsQuestion& question) const;

 private:
  struct Sockets;
  io::AsioExecutor& executor_;
  const store::Store& store_;
  std::string custom_domain_;
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace tfemu::daemon
