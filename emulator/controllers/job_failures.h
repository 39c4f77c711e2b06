// What a failed pod means for its Job: the first rule of its podFailurePolicy that matches.
#pragma once

#include <string>

#include "emulator/api/batch_job.h"

namespace tfemu::controllers {

struct Failure {
  api::PodFailureRule::Action action = api::PodFailureRule::Action::kCount;
  std::string message;  // of kFailJob, as the job controller says it
};
Failure JudgeFailure(const api::BatchJob& job, const api::Pod& pod);

// When its last container ended; when it was made if none has run.
Instant EndOf(const api::Pod& pod);

}  // namespace tfemu::controllers
