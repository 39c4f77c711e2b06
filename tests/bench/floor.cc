// The physical floor: pods by raw clone3 and raw rtnetlink, with nothing of the product. Prints medians as
// JSON.
//   floor [RUNS]: for 5 and 100 pods, from the first clone3 to the last exec: five namespaces, /proc, a host
//   name, a veth pair born in the pod's namespace, bridge, address, default route, exec; then teardown until
//   the links are gone. And for one pod: from its program's last act to its parent's knowing, and to the exec
//   of a successor.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kBridge = 10, kFirstLink = 1000, kPodLink = 100;

double Now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void Must(bool ok, const char* what) {
  if (ok) return;
  std::perror(what);
  std::exit(1);
}

// One rtnetlink request, built in place.
class Request {
 public:
  template <class Body>
  Request(int type, int flags, const Body& body) {
    head()->nlmsg_type = static_cast<uint16_t>(type);
    head()->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    head()->nlmsg_len = NLMSG_HDRLEN;
    Raw(&body, sizeof body);
  }
  void Raw(const void* data, size_t size) {
    std::memcpy(bytes_ + NLMSG_ALIGN(head()->nlmsg_len), data, size);
    head()->nlmsg_len = static_cast<uint32_t>(NLMSG_ALIGN(head()->nlmsg_len) + size);
  }
  rtattr* Attribute(int type, const void* data = nullptr, size_t size = 0) {
    auto* at = reinterpret_cast<rtattr*>(bytes_ + NLMSG_ALIGN(head()->nlmsg_len));
    at->rta_type = static_cast<uint16_t>(type);
    at->rta_len = static_cast<uint16_t>(RTA_LENGTH(size));
    if (size) std::memcpy(RTA_DATA(at), data, size);
    head()->nlmsg_len = static_cast<uint32_t>(NLMSG_ALIGN(head()->nlmsg_len) + RTA_ALIGN(at->rta_len));
    return at;
  }
  void Text(int type, const char* text) { Attribute(type, text, std::strlen(text) + 1); }
  void Number(int type, uint32_t value) { Attribute(type, &value, sizeof value); }
  void End(rtattr* nest) {
    nest->rta_len = static_cast<uint16_t>(bytes_ + head()->nlmsg_len - reinterpret_cast<char*>(nest));
  }
  void Send(int socket, const char* what) {
    Must(::send(socket, bytes_, head()->nlmsg_len, 0) > 0, what);
    alignas(nlmsghdr) char answer[4096];
    Must(::recv(socket, answer, sizeof answer, 0) > 0, what);
    const auto* error = reinterpret_cast<nlmsgerr*>(answer + NLMSG_HDRLEN);
    errno = -error->error;
    Must(error->error == 0, what);
  }

 private:
  nlmsghdr* head() { return reinterpret_cast<nlmsghdr*>(bytes_); }
  alignas(nlmsghdr) char bytes_[1024] = {};
};

int Netlink() {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  Must(fd >= 0, "netlink");
  return fd;
}

ifinfomsg Link(int index, bool up) {
  ifinfomsg link{};
  link.ifi_index = index;
  if (up) link.ifi_flags = link.ifi_change = IFF_UP;
  return link;
}

void AddBridge(int socket) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, Link(kBridge, true));
  request.Text(IFLA_IFNAME, "floor");
  rtattr* info = request.Attribute(IFLA_LINKINFO);
  request.Text(IFLA_INFO_KIND, "bridge");
  request.End(info);
  request.Send(socket, "bridge");
}

void AddVeth(int socket, int index, int pod_net) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, Link(index, true));
  request.Text(IFLA_IFNAME, ("f" + std::to_string(index)).c_str());
  request.Number(IFLA_MASTER, kBridge);
  request.Number(IFLA_NUM_TX_QUEUES, 1);
  request.Number(IFLA_NUM_RX_QUEUES, 1);
  rtattr* info = request.Attribute(IFLA_LINKINFO);
  request.Text(IFLA_INFO_KIND, "veth");
  rtattr* data = request.Attribute(IFLA_INFO_DATA);
  rtattr* peer = request.Attribute(VETH_INFO_PEER);
  const ifinfomsg end = Link(kPodLink, false);
  request.Raw(&end, sizeof end);
  request.Text(IFLA_IFNAME, "eth0");
  request.Number(IFLA_NUM_TX_QUEUES, 1);
  request.Number(IFLA_NUM_RX_QUEUES, 1);
  request.Number(IFLA_NET_NS_FD, static_cast<uint32_t>(pod_net));
  request.End(peer);
  request.End(data);
  request.End(info);
  request.Send(socket, "veth");
}

void SetUp(int socket, int index) { Request(RTM_NEWLINK, 0, Link(index, true)).Send(socket, "up"); }

void AddAddress(int socket, int index, uint32_t address) {
  ifaddrmsg body{};
  body.ifa_family = AF_INET;
  body.ifa_prefixlen = 24;
  body.ifa_index = static_cast<uint32_t>(index);
  Request request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, body);
  request.Number(IFA_LOCAL, htonl(address));
  request.Number(IFA_ADDRESS, htonl(address));
  request.Send(socket, "address");
}

void AddRoute(int socket, uint32_t gateway) {
  rtmsg body{};
  body.rtm_family = AF_INET;
  body.rtm_table = RT_TABLE_MAIN;
  body.rtm_protocol = RTPROT_BOOT;
  body.rtm_type = RTN_UNICAST;
  Request request(RTM_NEWROUTE, NLM_F_CREATE, body);
  request.Number(RTA_GATEWAY, htonl(gateway));
  request.Send(socket, "route");
}

constexpr uint32_t kNetwork = 0x0af40000;  // 10.244.0.0

struct Pod {
  pid_t pid;
  int executed;  // end of file: exec happened
};

Pod StartPod(int number, int cluster, int cluster_net) {
  int go[2], executed[2];
  Must(::pipe2(go, O_CLOEXEC) == 0 && ::pipe2(executed, O_CLOEXEC) == 0, "pipe");
  clone_args args{};
  args.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET;
  args.exit_signal = SIGCHLD;
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
  Must(pid >= 0, "clone3");
  if (pid == 0) {
    ::close(go[1]);
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    ::mount("proc", "/proc", "proc", 0, nullptr);
    ::sethostname("floor", 5);
    char byte;
    (void)!::read(go[0], &byte, 1);
    ::execl("/bin/sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  ::close(go[0]);
  ::close(executed[1]);
  const int net = ::open(("/proc/" + std::to_string(pid) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  AddVeth(cluster, kFirstLink + number, net);
  Must(::setns(net, CLONE_NEWNET) == 0, "setns");
  const int inside = Netlink();
  SetUp(inside, 1);
  SetUp(inside, kPodLink);
  AddAddress(inside, kPodLink, kNetwork + 2 + static_cast<uint32_t>(number));
  AddRoute(inside, kNetwork + 1);
  ::close(inside);
  Must(::setns(cluster_net, CLONE_NEWNET) == 0, "setns");
  ::close(net);
  ::close(go[1]);
  return {pid, executed[0]};
}

// The kernel clears dead namespaces away in the background and holds up the next ones; each figure starts
// from rest.
void Rest() { ::usleep(200'000); }

double Launch(int count, int cluster, int cluster_net, std::vector<Pod>& pods) {
  const double begin = Now();
  for (int i = 0; i < count; ++i) pods.push_back(StartPod(i, cluster, cluster_net));
  for (const Pod& pod : pods) {
    char byte;
    (void)!::read(pod.executed, &byte, 1);
    ::close(pod.executed);
  }
  return Now() - begin;
}

double TearDown(std::vector<Pod>& pods) {
  const int query = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const double begin = Now();
  for (const Pod& pod : pods) ::kill(pod.pid, SIGKILL);
  for (const Pod& pod : pods) ::waitpid(pod.pid, nullptr, 0);
  for (size_t i = 0; i < pods.size(); ++i) {
    ifreq request{};
    request.ifr_ifindex = kFirstLink + static_cast<int>(i);
    while (::ioctl(query, SIOCGIFNAME, &request) == 0) ::usleep(200);
  }
  const double took = Now() - begin;
  ::close(query);
  pods.clear();
  return took;
}

struct Failure {
  double noticed, restarted;
};

// A pod is killed where its program would end by itself: what the kernel does from there on is the same.
Failure Fail(int cluster, int cluster_net, std::vector<Pod>& pods) {
  Launch(1, cluster, cluster_net, pods);
  const double begin = Now();
  ::kill(pods[0].pid, SIGKILL);
  ::waitpid(pods[0].pid, nullptr, 0);
  const double noticed = Now() - begin;
  pods[0] = StartPod(1, cluster, cluster_net);
  char byte;
  (void)!::read(pods[0].executed, &byte, 1);
  ::close(pods[0].executed);
  const double restarted = Now() - begin;
  TearDown(pods);
  return {noticed, restarted};
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 20;
  Must(::unshare(CLONE_NEWNET | CLONE_NEWNS) == 0, "unshare (root?)");
  Must(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "private mounts");
  const int cluster = Netlink(), cluster_net = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  AddBridge(cluster);
  AddAddress(cluster, kBridge, kNetwork + 1);
  std::vector<double> five, hundred, down, noticed, restarted;
  std::vector<Pod> pods;
  for (int run = 0; run < runs; ++run) {
    Rest();
    five.push_back(Launch(5, cluster, cluster_net, pods));
    down.push_back(TearDown(pods));
    Rest();
    hundred.push_back(Launch(100, cluster, cluster_net, pods));
    TearDown(pods);
    Rest();
    const Failure failure = Fail(cluster, cluster_net, pods);
    noticed.push_back(failure.noticed);
    restarted.push_back(failure.restarted);
  }
  std::printf("{\"runs\": %d, \"launch_5_ms\": %.2f, \"launch_100_ms\": %.1f, \"teardown_5_ms\": %.2f, ",
              runs, Median(five), Median(hundred), Median(down));
  std::printf("\"notice_ms\": %.2f, \"restart_ms\": %.2f}\n", Median(noticed), Median(restarted));
}
