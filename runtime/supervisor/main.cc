// tfemu-supervisor: keeps the pods of one cluster. Descriptor 3 is its connection to the daemon, 4 the bound
// socket to which later daemons come.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>

#include "runtime/process/files.h"
#include "runtime/process/system_error.h"
#include "runtime/supervisor/supervisor.h"

namespace tfemu::supervisor {
namespace {

constexpr int kChannelDescriptor = 3, kListenerDescriptor = 4;
constexpr int kConfigureTimeoutMs = 10'000;

// Whatever the starter ignored or blocked would go on to every container.
void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit)) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// From here on the host's links and mounts are out of reach of a mistake; what the host mounts later still
// comes in.
Result<std::string> LeaveHost(const std::string& state_folder) {
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS)) return process::SystemError("unshare");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr))
    return process::SystemError("make mounts private");
  const std::string scratch = state_folder + "/supervisor";
  RETURN_IF_ERROR(process::MakeFolders(scratch, 0700));
  if (::mount("tfemu", scratch.c_str(), "tmpfs", MS_NOSUID, "mode=0755"))
    return process::SystemError("mount " + scratch);
  RETURN_IF_ERROR(process::MakeFolders(scratch + "/stage"));
  RETURN_IF_ERROR(process::MakeFolders(scratch + "/pods"));
  return scratch;
}

Result<Supervisor::Parts> MakeParts(const process::wire::Configure& configure) {
  ASSIGN_OR_RETURN(std::string scratch, LeaveHost(configure.state_folder()));
  ASSIGN_OR_RETURN(auto home, process::HomeNamespaces::Open());
  ASSIGN_OR_RETURN(auto network, ClusterNetwork::Open());
  auto cgroups = process::MakeCgroupDriver(process::kCgroupMount, configure.cgroup_name());
  RETURN_IF_ERROR(cgroups->Bound(process::ThreadBound()));
  return Supervisor::Parts{.home = std::move(home),
                           .network = std::move(network),
                           .cgroups = std::move(cgroups),
                           .scratch = std::move(scratch),
                           .disk = configure.state_folder()};
}

Result<void> Serve() {
  boost::asio::io_context context(1);
  io::AsioExecutor executor(context);
  Supervisor::Doors doors{std::make_unique<process::Channel>(context, UniqueFd(kChannelDescriptor)),
                          UniqueFd(kListenerDescriptor)};
  ASSIGN_OR_RETURN(const std::string first, doors.channel->ReceiveBlocking(kConfigureTimeoutMs));
  process::wire::Request request;
  if (!request.ParseFromString(first) || !request.has_configure())
    return Error{Reason::kBadRequest, "the daemon must send its configuration first"};
  ASSIGN_OR_RETURN(auto parts, MakeParts(request.configure()));
  // Who connects is told the listener's number of process: that has to be ours.
  if (::listen(doors.listener.get(), SOMAXCONN)) return process::SystemError("listen");
  ::fcntl(doors.listener.get(), F_SETFL, O_NONBLOCK);
  Supervisor supervisor(executor, std::move(doors), std::move(parts));
  boost::asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (!error) supervisor.Shutdown();
  });
  supervisor.Start([&] { context.stop(); });
  context.run();
  supervisor.FlushBlocking(1000);
  return {};
}

}  // namespace
}  // namespace tfemu::supervisor

int main() {
  using namespace tfemu::supervisor;
  if (::fcntl(kChannelDescriptor, F_SETFD, FD_CLOEXEC) || ::fcntl(kListenerDescriptor, F_SETFD, FD_CLOEXEC)) {
    std::fprintf(stderr, "tfemu-supervisor is started by tfemud, never by hand\n");
    return 2;
  }
  ::umask(022);
  ResetSignals();
  RaiseDescriptorLimit();
  const auto served = Serve();
  if (served.ok()) return 0;
  std::fprintf(stderr, "tfemu-supervisor: %s\n", served.error().message.c_str());
  return 1;
}
