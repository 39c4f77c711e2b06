#include "runtime/process/namespaces.h"

#include <fcntl.h>
#include <sched.h>

#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

Result<PodNamespaces> OpenCurrent() {
  PodNamespaces current;
  current.net.Reset(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  current.uts.Reset(::open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC));
  current.ipc.Reset(::open("/proc/self/ns/ipc", O_RDONLY | O_CLOEXEC));
  if (!current.net.valid() || !current.uts.valid() || !current.ipc.valid())
    return SystemError("open /proc/self/ns");
  return current;
}

}  // namespace

Result<HomeNamespaces> HomeNamespaces::Open() {
  HomeNamespaces home;
  ASSIGN_OR_RETURN(home.own_, OpenCurrent());
  return home;
}

// Going on in a stranger's namespace would harm the next pod: a broken invariant.
void HomeNamespaces::Return() const {
  CHECK_THAT(::setns(own_.net.get(), CLONE_NEWNET) == 0);
  CHECK_THAT(::setns(own_.uts.get(), CLONE_NEWUTS) == 0);
  CHECK_THAT(::setns(own_.ipc.get(), CLONE_NEWIPC) == 0);
}

Result<PodNamespaces> HomeNamespaces::Create(
    const std::function<Result<void>(const PodNamespaces&)>& inside) const {
  if (::unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC)) return SystemError("unshare");
  auto pod = OpenCurrent();
  const auto done = pod.ok() ? inside(pod.value()) : Result<void>(pod.error());
  Return();
  if (!done.ok()) return done.error();
  return pod;
}

Result<void> HomeNamespaces::InNetwork(const UniqueFd& net,
                                       const std::function<Result<void>()>& inside) const {
  if (::setns(net.get(), CLONE_NEWNET)) return SystemError("enter the pod's network");
  const auto done = inside();
  CHECK_THAT(::setns(own_.net.get(), CLONE_NEWNET) == 0);
  return done;
}

Result<void> HomeNamespaces::Join(const PodNamespaces& pod) {
  if (::setns(pod.net.get(), CLONE_NEWNET) || ::setns(pod.uts.get(), CLONE_NEWUTS) ||
      ::setns(pod.ipc.get(), CLONE_NEWIPC))
    return SystemError("join the pod's namespaces");
  return {};
}

}  // namespace tfemu::process
