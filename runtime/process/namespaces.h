// The namespaces that the containers of a pod share, held by descriptors: no helper process keeps them alive.
#pragma once

#include <functional>

#include "emulator/base/result.h"
#include "emulator/base/unique_fd.h"

namespace tfemu::process {

struct PodNamespaces {
  UniqueFd net, uts, ipc;
};

// The supervisor's own namespaces, to come back to. Needs a process with one thread.
class HomeNamespaces {
 public:
  static Result<HomeNamespaces> Open();

  // Fresh net, uts and ipc namespaces; `inside` runs in them.
  Result<PodNamespaces> Create(const std::function<Result<void>(const PodNamespaces&)>& inside) const;
  Result<void> InNetwork(const UniqueFd& net, const std::function<Result<void>()>& inside) const;
  // For a child: into the pod's namespaces, for good.
  static Result<void> Join(const PodNamespaces& pod);

 private:
  void Return() const;
  PodNamespaces own_;
};

}  // namespace tfemu::process
