// Keeps what pods see of their virtual GPUs up to date, and knows who uses which.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/api/node.h"
#include "emulator/api/pod.h"
#include "emulator/base/executor.h"
#include "emulator/manager/gpu_board.h"
#include "runtime/gpu_files.h"

namespace tfemu::manager {

class GpuMonitor {
 public:
  // `files` may be null: then nothing is shown, as in a simulation.
  GpuMonitor(Executor& executor, runtime::GpuFiles* files, std::string state_folder)
      : executor_(executor), files_(files), state_folder_(std::move(state_folder)) {}
  ~GpuMonitor() { *alive_ = false; }

  // Before a container starts: its folders exist and show its devices when this returns. Containers without
  // GPUs are not kept.
  Result<void> Attach(const api::Pod& pod, const std::string& container, const api::NodeGpus& gpus,
                      const std::string& program);
  void OnRunning(const std::string& pod_uid, const std::string& container, bool running);
  void Remove(const std::string& pod_uid);  // the pod is gone, and its folders with it

  GpuUsage Usage(const std::string& node, const api::Gpu& gpu) const;
  // Devices of pods that their node does not list: those of ECI instances.
  std::vector<GpuUsage> UsageBesides(const std::vector<api::Node>& nodes) const;

 private:
  struct Kept {
    GpuHolder holder;
    api::NodeGpus gpus;
    std::string shown;
  };
  std::vector<const GpuHolder*> HoldersOn(const std::string& node) const;
  void Show(const std::string& node);
  void Arm();
  void Sample();

  Executor& executor_;
  runtime::GpuFiles* files_;
  std::string state_folder_;
  std::map<std::pair<std::string, std::string>, Kept> kept_;  // by pod uid and container
  bool armed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tfemu::manager
