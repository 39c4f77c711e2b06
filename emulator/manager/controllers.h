// The controllers of this cluster, one maker each: what they watch, and what they show their reconciler.
#pragma once

#include <memory>
#include <vector>

#include "emulator/api/tfjob_settings.h"
#include "emulator/manager/controller.h"
#include "emulator/manager/storage_folders.h"

namespace tfemu::manager {

// What every controller is given.
struct ControllerDeps {
  Executor& executor;
  store::Store& store;
  ActionApplier& applier;
  runtime::Runtime& runtime;  // for the folders of volumes
  const StorageFolders& folders;
  int64_t time_scale = 1;  // waits that a controller makes are divided by this
  api::TFJobSettings tfjob = {};
};

std::unique_ptr<Controller> MakeTFJobController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeJobController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeDeploymentController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeReplicaSetController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeStatefulSetController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeDaemonSetController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeCronJobController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeQuotaController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeClaimController(const ControllerDeps& deps);
std::unique_ptr<Controller> MakeVolumeController(const ControllerDeps& deps);

}  // namespace tfemu::manager
