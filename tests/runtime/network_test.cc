// Addresses, bridges, sockets in namespaces, clusters side by side.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/runtime/fixture.h"

namespace tfemu::test {
namespace {

// One line of a server that greets whoever connects.
std::string Server(const std::string& greeting) {
  return "exec /usr/bin/python3 -c \"\nimport socket\ns = socket.create_server(('0.0.0.0', "
         "2222))\nprint('ready', flush=True)\n"
         "while True:\n  c, peer = s.accept()\n  c.sendall(('" +
         greeting + " ' + peer[0] + '\\n').encode())\n  c.close()\n\"";
}

std::string Client(const std::string& address) {
  return "exec /usr/bin/python3 -c \"\nimport socket\nprint(socket.create_connection(('" + address +
         "', 2222), 5).makefile().readline(), end='')\n\"";
}

void StartServer(Cluster& cluster, const std::string& uid, const std::string& address) {
  cluster.runtime().StartPod(Cluster::PodOf(uid, address));
  cluster.runtime().StartContainer(uid, cluster.Shell(uid, Server("hello from " + uid)));
  REQUIRE(cluster.Until([&] { return cluster.HasLog(uid); }));
}

}  // namespace

TEST_SUITE("runtime") {
  TEST_CASE("pods reach each other on one node and across nodes") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    StartServer(cluster, "server", "10.244.0.5");
    cluster.RunToEnd("near", "10.244.0.6", Client("10.244.0.5"));
    CHECK(cluster.OutputOf("near") == "hello from server 10.244.0.6\n");
    cluster.RunToEnd("far", "10.244.7.6", Client("10.244.0.5"));
    CHECK(cluster.OutputOf("far") == "hello from server 10.244.7.6\n");
  }

  TEST_CASE("a pod that takes over an address is reached at once") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    for (const char* uid : {"first", "second"}) {
      StartServer(cluster, uid, "10.244.0.5");
      cluster.RunToEnd(std::string("client-of-") + uid, "10.244.0.6", Client("10.244.0.5"));
      CHECK(cluster.OutputOf(std::string("client-of-") + uid) ==
            std::string("hello from ") + uid + " 10.244.0.6\n");
      for (const std::string& pod : {std::string(uid), std::string("client-of-") + uid}) {
        cluster.runtime().StopPod(pod);
        cluster.Await(Cluster::Type::kPodStopped, pod);
      }
    }
  }

  TEST_CASE("two clusters have the same addresses and do not meet") {
    SKIP_WITHOUT_ROOT();
    Cluster one("one"), two("two");
    StartServer(one, "of-one", "10.244.0.5");
    StartServer(two, "of-two", "10.244.0.5");
    one.RunToEnd("client", "10.244.0.6", Client("10.244.0.5"));
    two.RunToEnd("client", "10.244.0.6", Client("10.244.0.5"));
    CHECK(one.OutputOf("client") == "hello from of-one 10.244.0.6\n");
    CHECK(two.OutputOf("client") == "hello from of-two 10.244.0.6\n");
  }

  TEST_CASE("a socket opened in a pod reaches its 127.0.0.1") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    StartServer(cluster, "server", "10.244.0.5");
    UniqueFd socket;
    cluster.runtime().OpenSocket("server", [&](Result<UniqueFd> opened) {
      REQUIRE(opened.ok());
      socket = std::move(opened).value();
    });
    REQUIRE(cluster.Until([&] { return socket.valid(); }));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(2222);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    pollfd wait{.fd = socket.get(), .events = POLLIN, .revents = 0};
    REQUIRE(::poll(&wait, 1, 5000) == 1);
    char text[100] = "";
    CHECK(::read(socket.get(), text, sizeof text - 1) > 0);
    CHECK(std::string(text) == "hello from server 127.0.0.1\n");

    std::string refused;
    cluster.runtime().OpenSocket("nobody",
                                 [&](const Result<UniqueFd>& opened) { refused = opened.error().message; });
    REQUIRE(cluster.Until([&] { return !refused.empty(); }));
    CHECK(refused == "the pod is not running");
  }

  TEST_CASE("a cluster socket answers pods on a service address") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    UniqueFd listener, datagrams;
    cluster.runtime().OpenClusterSocket({.address = "10.96.0.10", .port = 2222},
                                        [&](Result<UniqueFd> opened) {
                                          REQUIRE(opened.ok());
                                          listener = std::move(opened).value();
                                        });
    cluster.runtime().OpenClusterSocket({.address = "10.96.0.10", .port = 53, .udp = true},
                                        [&](Result<UniqueFd> opened) {
                                          REQUIRE(opened.ok());
                                          datagrams = std::move(opened).value();
                                        });
    REQUIRE(cluster.Until([&] { return listener.valid() && datagrams.valid(); }));
    cluster.runtime().StartPod(Cluster::PodOf("client", "10.244.3.6"));
    cluster.runtime().StartContainer("client", cluster.Shell("client", Client("10.96.0.10")));
    pollfd wait{.fd = listener.get(), .events = POLLIN, .revents = 0};
    REQUIRE(cluster.Until([&] { return ::poll(&wait, 1, 10) == 1; }));
    const UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    REQUIRE(accepted.valid());
    CHECK(::write(accepted.get(), "dns\n", 4) == 4);
    cluster.Await(Cluster::Type::kContainerExited, "client", "main");
    CHECK(cluster.OutputOf("client") == "dns\n");

    std::string refused;
    cluster.runtime().OpenClusterSocket(
        {.address = "10.96.0.10", .port = 2222},
        [&](const Result<UniqueFd>& again) { refused = again.error().message; });
    REQUIRE(cluster.Until([&] { return !refused.empty(); }));
    CHECK(refused == "bind 10.96.0.10:2222: Address already in use");
  }

  TEST_CASE("an address that a pod cannot have is refused") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.runtime().StartPod(Cluster::PodOf("gateway", "10.244.0.1"));
    const auto event = cluster.Await(Cluster::Type::kSandboxFailed, "gateway");
    CHECK(event.reason == "FailedCreatePodSandBox");
    CHECK(event.message == "10.244.0.1 is the network's, the gateway's or the broadcast address");
  }
}

}  // namespace tfemu::test
