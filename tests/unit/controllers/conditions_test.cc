// The algebra of conditions, and the back-off of containers.
#include "emulator/controllers/tfjob_conditions.h"

#include <doctest/doctest.h>

#include "emulator/controllers/node_pod_reconciler.h"

namespace tfemu::controllers {
namespace {

using namespace std::chrono_literals;

std::string Shown(const api::TFJobStatus& status) {
  std::string text;
  for (const auto& c : status.conditions) text += c.type.substr(0, 3) + (c.status ? "+" : "-");
  return text;
}

TEST_CASE("conditions displace each other as the operator's do") {
  api::TFJobStatus status;
  const auto set = [&](JobConditionType type, bool value, const char* reason, int64_t at = 1) {
    SetCondition(status, type, value, reason, "m", Instant{at});
  };
  set(JobConditionType::kCreated, true, "TFJobCreated");
  set(JobConditionType::kRunning, true, "TFJobRunning");
  CHECK(Shown(status) == "Cre+Run+");
  set(JobConditionType::kRestarting, true, "TFJobRestarting");
  CHECK(Shown(status) == "Cre+Res+");
  set(JobConditionType::kRunning, true, "TFJobRunning", 5);
  CHECK(Shown(status) == "Cre+Run+");
  set(JobConditionType::kRunning, true, "TFJobRunning", 9);
  CHECK(status.Find("Running")->last_update == Instant{5});  // same status and reason: no change at all
  set(JobConditionType::kSucceeded, true, "TFJobSucceeded", 9);
  CHECK(Shown(status) == "Cre+Run-Suc+");
  CHECK(status.Find("Running")->reason == "TFJobRunning");
  set(JobConditionType::kFailed, true, "TFJobFailed");
  CHECK(Shown(status) == "Cre+Run-Suc+Fai+");  // Succeeded does not absorb
  set(JobConditionType::kRunning, true, "TFJobRunning");
  CHECK(Shown(status) == "Cre+Run-Suc+Fai+");  // Failed does
}

TEST_CASE("a changed reason keeps the time of the transition") {
  api::TFJobStatus status;
  SetCondition(status, JobConditionType::kRunning, true, "A", "m", Instant{1});
  SetCondition(status, JobConditionType::kRunning, true, "B", "m", Instant{7});
  CHECK(status.Find("Running")->last_transition == Instant{1});
  CHECK(status.Find("Running")->last_update == Instant{7});
}

TEST_CASE("the kubelet's back-off") {
  CHECK(NextBackOff(std::nullopt, 1s) == 0s);
  CHECK(NextBackOff(0s, 1s) == 10s);
  CHECK(NextBackOff(10s, 1s) == 20s);
  CHECK(NextBackOff(160s, 1s) == 300s);
  CHECK(NextBackOff(300s, 1s) == 300s);
  CHECK(NextBackOff(300s, 10min) == 0s);
}

}  // namespace
}  // namespace tfemu::controllers
