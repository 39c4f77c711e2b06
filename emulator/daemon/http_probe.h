// One GET of an HTTP or HTTPS probe, over a socket of the pod's network.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <string>

#include "runtime/probe.h"

namespace tfemu::daemon {

struct HttpAnswer {
  std::string problem;  // why there is no answer
  int status = 0;
  std::string location;
};

// `done` is called once, from the socket's loop. As the kubelet, it believes any certificate.
void GetHttp(boost::asio::ip::tcp::socket socket, const runtime::ProbeRequest& request,
             std::function<void(const HttpAnswer&)> done);

}  // namespace tfemu::daemon
