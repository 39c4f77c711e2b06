#include "runtime/supervisor/process_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <utility>

#include "runtime/process/root_builder.h"

namespace tfemu::supervisor {
namespace {

// Containers see this process, and through /proc its root: it has an empty one, and nothing else of ours.
int Reaper(const std::string& stage, const process::PodNamespaces& pod) {
  if (!process::HomeNamespaces::Join(pod).ok() || !process::BuildRoot(stage, {}).ok()) return 1;
  ::prctl(PR_SET_NAME, "pause", 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::signal(SIGCHLD, SIG_IGN);  // what is orphaned is reaped at once
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  process::CloseFrom(3);
  for (;;) ::pause();
}

}  // namespace

Result<void> ProcessNamespace::Start(PodHost& host, const process::PodNamespaces& pod,
                                     std::function<void()> ended) {
  auto child =
      process::Clone({.namespaces = CLONE_NEWNS | CLONE_NEWPID}, [&] { return Reaper(host.stage(), pod); });
  if (!child.ok()) return child.error();
  UniqueFd nothing_to_say(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  reaper_.emplace(host.context, std::move(child).value(), std::move(nothing_to_say))
      .Watch({.executed = [] {},
              .failed = [](const StartFailure&) {},
              .exited =
                  [this, ended = std::move(ended)](const process::ExitStatus&) {
                    reaper_.reset();
                    ended();
                  }});
  return {};
}

void ProcessNamespace::Stop() {
  if (reaper_) reaper_->Signal(SIGKILL);
}

}  // namespace tfemu::supervisor
