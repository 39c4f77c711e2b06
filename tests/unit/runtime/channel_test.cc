// Messages and descriptors over a socket pair.
#include "runtime/process/channel.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>

#include "runtime/process/messages.h"

namespace tfemu::process {
namespace {

struct Pair {
  boost::asio::io_context context;
  UniqueFd ends[2];
  Pair() {
    int fds[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    for (int i = 0; i < 2; ++i) ends[i].Reset(fds[i]);
  }
};

ino_t Inode(const UniqueFd& fd) {
  struct stat status {};
  ::fstat(fd.get(), &status);
  return status.st_ino;
}

TEST_CASE("large and many messages arrive in order, with their descriptors") {
  Pair pair;
  Channel sender(pair.context, std::move(pair.ends[0])), receiver(pair.context, std::move(pair.ends[1]));
  std::vector<std::string> bodies;
  std::vector<ino_t> inodes;
  receiver.Start(
      [&](std::string_view body, Channel::Descriptors descriptors) {
        bodies.emplace_back(body);
        for (const auto& fd : descriptors) inodes.push_back(Inode(fd));
      },
      [] {});
  sender.Start([](std::string_view, const Channel::Descriptors&) {}, [] {});
  std::vector<ino_t> sent;
  for (int i = 0; i < 100; ++i) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    Channel::Descriptors descriptors;
    descriptors.emplace_back(ends[0]);
    descriptors.emplace_back(ends[1]);
    if (i % 3) descriptors.clear();
    for (const auto& fd : descriptors) sent.push_back(Inode(fd));
    if (i % 3) ::close(ends[0]), ::close(ends[1]);
    sender.Send(std::string(i == 50 ? 5'000'000 : static_cast<size_t>(i), 'x'), std::move(descriptors));
  }
  while (bodies.size() < 100) pair.context.run_one();
  for (size_t i = 0; i < 100; ++i) CHECK(bodies[i].size() == (i == 50 ? 5'000'000 : i));
  CHECK(inodes == sent);
}

TEST_CASE("a peer that goes is noticed once, and nonsense closes") {
  for (const bool nonsense : {false, true}) {
    Pair pair;
    Channel channel(pair.context, std::move(pair.ends[0]));
    int closed = 0;
    channel.Start([](std::string_view, const Channel::Descriptors&) {}, [&] { ++closed; });
    if (nonsense) REQUIRE(::send(pair.ends[1].get(), "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 0) == 8);
    else pair.ends[1].Reset();
    while (!closed) pair.context.run_one();
    CHECK(closed == 1);
    channel.Send("into the void");
  }
}

TEST_CASE("a channel may be destroyed by its own handler") {
  Pair pair;
  auto channel = std::make_unique<Channel>(pair.context, std::move(pair.ends[0]));
  Channel peer(pair.context, std::move(pair.ends[1]));
  int calls = 0;
  channel->Start(
      [&](std::string_view, const Channel::Descriptors&) {
        ++calls;
        channel.reset();
      },
      [&] { calls += 100; });
  peer.Send("one");
  peer.Send("two");
  pair.context.run();
  CHECK(calls == 1);
}

TEST_CASE("launches survive the wire") {
  const runtime::PodLaunch pod{.uid = "u",
                               .ns = "n",
                               .name = "p",
                               .node = "w",
                               .hostname = "h",
                               .address = "10.244.0.9",
                               .dns_searches = {"a", "b"},
                               .dns_servers = {"1.2.3.4"},
                               .dns_options = {"ndots:2"},
                               .share_processes = true,
                               .etc_files = {{"hosts", "x", 0600}},
                               .volumes = {{.name = "v",
                                            .type = runtime::Volume::Type::kMemory,
                                            .host_path = "/\xff",
                                            .create_mode = 0750,
                                            .size_bytes = 7,
                                            .files = {{"f", std::string("\0", 1)}}}}};
  wire::StartPod message;
  REQUIRE(message.ParseFromString(Encode(pod).SerializeAsString()));
  const auto back = Decode(message);
  CHECK(back.volumes[0].host_path == "/\xff");
  CHECK(back.volumes[0].create_mode == 0750u);
  CHECK(back.volumes[0].files[0].content.size() == 1);
  CHECK(back.etc_files[0].mode == 0600);
  CHECK(back.dns_searches == pod.dns_searches);
  CHECK(back.dns_servers == pod.dns_servers);
  CHECK(back.dns_options == pod.dns_options);
  CHECK(back.share_processes);
  CHECK(Encode(back).SerializeAsString() == Encode(pod).SerializeAsString());

  const runtime::ContainerLaunch container{
      .name = "main",
      .attempt = 3,
      .root = {.host = false, .layers = {"/l"}, .python_environment = "/v"},
      .argv = {"a", ""},
      .env = {"X=\xfe"},
      .working_dir = "/w",
      .mounts = {{"v", "s", "/t", true}},
      .limits = {1, 2, 3},
      .log_path = "/log",
      .message_path = "/m",
      .message_from_log = true,
      .privileges = {{"A"}, {"D"}, true, true}};
  const std::string bytes = Encode("u", container).SerializeAsString();
  wire::StartContainer parsed;
  REQUIRE(parsed.ParseFromString(bytes));
  CHECK(Encode("u", Decode(parsed)).SerializeAsString() == bytes);
  const auto again = Decode(parsed);
  CHECK(again.message_path == "/m");
  CHECK(again.message_from_log);
  CHECK(again.privileges == container.privileges);
}

}  // namespace
}  // namespace tfemu::process
