// What pods need from the supervisor.
#pragma once

#include <functional>
#include <string>

#include "runtime/process/cgroup.h"
#include "runtime/process/namespaces.h"
#include "runtime/supervisor/cluster_network.h"
#include "runtime/supervisor/quota_disks.h"

namespace boost::asio {
class io_context;
}

namespace tfemu::supervisor {

struct PodHost {
  boost::asio::io_context& context;
  Executor& executor;
  const process::HomeNamespaces& home;
  ClusterNetwork& network;
  process::CgroupDriver& cgroups;
  QuotaDisks& quotas;
  std::string scratch;  // a tmpfs of our own mount namespace
  std::string disk;     // the cluster's state folder
  std::function<void(const runtime::PodEvent&)> emit;
  std::function<void(std::string)> report;

  std::string stage() const { return scratch + "/stage"; }
};

}  // namespace tfemu::supervisor
