// What should happen next to one TFJob, given what is true now (training-operator v1.9.4, tfjob-controller.md
// sections 3 to 5; where a recording of the real operator differs from the text, the recording stands).
#pragma once

#include <vector>

#include "emulator/api/pod.h"
#include "emulator/api/service.h"
#include "emulator/api/tfjob.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct TFJobObservation {
  api::TFJob job;
  api::ObjectReference self;           // for events
  std::vector<api::Pod> pods;          // owned by the job, by name
  std::vector<api::Service> services;  // owned by the job, by name
  Instant now;
  api::TFJobSettings settings = {};
};

Plan ReconcileTFJob(const TFJobObservation& observed);

}  // namespace tfemu::controllers
