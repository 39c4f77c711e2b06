// Looks from time to time how much is in the volumes of a pod that have a size; pods without such volumes
// cost nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/process/fd_watch.h"
#include "runtime/process/spawn.h"
#include "runtime/supervisor/pod_host.h"

namespace tfemu::supervisor {

class VolumeUsage {
 public:
  VolumeUsage(PodHost& host, std::string uid) : host_(host), uid_(std::move(uid)) {}
  ~VolumeUsage();

  void Start(const std::vector<runtime::Volume>& volumes, const std::map<std::string, std::string>& paths);
  // The last word on volumes with a quota, before they are given up.
  void Stop();

 private:
  struct Watched {
    std::string name, path;
    uint64_t size = 0;  // of a folder whose files are counted
    bool quota = false;
    uint64_t reported = UINT64_MAX;
  };
  void Look();
  void ReportQuotas();
  void CountFiles();
  void OnCounted();
  void LookAgain(Duration after);
  void Report(Watched& volume, uint64_t used, uint64_t size);

  PodHost& host_;
  std::string uid_;
  std::vector<Watched> watched_;
  process::Child counter_;
  process::FdWatch counts_;
  Instant counting_since_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::supervisor
