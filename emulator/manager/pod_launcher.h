// Turns a pod into what the runtime is told: volumes, mounts, environment, command, limits.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/eci_settings.h"
#include "emulator/api/pod.h"
#include "emulator/manager/gpu_binding.h"
#include "emulator/manager/pod_dns.h"
#include "emulator/manager/pod_values.h"
#include "emulator/manager/storage_folders.h"
#include "emulator/store/store.h"
#include "runtime/image.h"
#include "runtime/runtime.h"

namespace tfemu::manager {

struct LaunchSettings {
  std::string state_folder;  // absolute
  std::string cluster_domain = "cluster.local";
  // Folders of the host for NAS servers and OSS buckets.
  std::map<std::string, StorageFolder> nas = {}, oss = {};
  GpuSettings gpus = {};
  api::EciSettings eci = {};
  ResolverSettings node_dns = {};  // of this host, for dnsPolicy Default
};

class PodLauncher {
 public:
  PodLauncher(const store::Store& store, const runtime::ImageCatalog& images, LaunchSettings settings)
      : store_(store),
        images_(images),
        settings_(std::move(settings)),
        folders_({settings_.state_folder, settings_.nas, settings_.oss}) {}

  // The error's message is what a kubelet would say in a FailedMount event.
  Result<runtime::PodLaunch> Pod(const DownwardContext& context) const;
  // kNotFound for a missing ConfigMap or Secret (CreateContainerConfigError), or for an unknown image.
  Result<runtime::ContainerLaunch> Container(const DownwardContext& context, const api::Container& container,
                                             int attempt) const;

  void UseMigDevices(const std::map<std::string, std::vector<std::string>>& devices) {
    settings_.gpus.mig_devices = devices;
  }

  // The files of a volume that is made of them, as they are now.
  Result<std::vector<runtime::File>> Files(const DownwardContext& context,
                                           const api::PodVolume& volume) const {
    return VolumeFiles(context, volume, LookupIn(context.pod.meta.ns));
  }

 private:
  Result<runtime::Volume> ResolveVolume(const DownwardContext& context, const api::PodVolume& volume) const;
  Result<runtime::Volume> ClaimVolume(const api::Pod& pod, const api::PodVolume& volume) const;
  Result<void> CheckAttachment(const api::Pod& pod, const std::string& claim,
                               const api::PersistentVolume& volume) const;
  Result<runtime::Mount> MountOf(const api::VolumeMount& mount, const Data& variables) const;
  Lookup LookupIn(const std::string& ns) const;

  const store::Store& store_;
  const runtime::ImageCatalog& images_;
  LaunchSettings settings_;
  StorageFolders folders_;
};

}  // namespace tfemu::manager
