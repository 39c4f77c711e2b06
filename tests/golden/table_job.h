// Jobs and pods as the tables write them, and one pass of the controller over them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/controllers/tfjob_reconciler.h"
#include "tests/golden/table.h"

namespace tfemu::test {

inline constexpr Instant kNow{1'764'528'000'000'000'000};

// "chief1 w4 ps2:Never ExitCode dynamic" as a manifest with the API server's defaults: chief, master, ps, w
// and eval with a number, and a policy of their own after a colon; a policy for all others; dynamic;
// AllWorkers; port3333 (named tfjob-port) or unnamed3333.
api::Json JobDocument(const std::string& words);
api::TFJob Job(const std::string& words);
// The same, with the condition Created and a start time of kNow.
api::TFJob CreatedJob(const std::string& words);
// "-", or such as "profile=v1.1 retryRule=list".
api::TFJobSettings Settings(const std::string& words);

api::Pod PodOf(const api::TFJob& job, const std::string& type, int index, api::PodPhase phase,
               int exit_code = 0);
// All replicas of all types.
std::vector<api::Pod> AllPods(const api::TFJob& job, api::PodPhase phase);
// "worker-0 running, ps-1 failed 137": pending, running, succeeded, failed CODE, lost (failed without a
// status).
std::vector<api::Pod> PodsInWords(const api::TFJob& job, const std::string& words);

controllers::Plan PassOver(const api::TFJob& job, const std::vector<api::Pod>& pods,
                           const api::TFJobSettings& settings = {},
                           const std::vector<api::Service>& services = {});
api::TFJobStatus StatusAfter(const api::TFJob& job, const controllers::Plan& plan);
std::string InWords(const api::TFJobStatus& status);  // "Created T, Running F"

// Names of what the plan deletes or creates, joined; "-" for none.
std::string Deleted(const controllers::Plan& plan, const std::string& kind = "Pod");
std::string Created(const controllers::Plan& plan, const std::string& kind = "Pod");
size_t CountDeleted(const controllers::Plan& plan, const std::string& kind = "Pod");
size_t CountCreated(const controllers::Plan& plan, const std::string& kind = "Pod");

}  // namespace tfemu::test
