// How a run comes to its end.
#include "tools/cli/run_monitor.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace tfemu::cli {
namespace {

using api::Json;
using api::Object;

constexpr Instant kStart{1'800'000'000'000'000'000};
Instant At(int seconds) { return kStart + std::chrono::seconds(seconds); }

Object Job(const std::string& condition, const std::string& message = "") {
  return Object(Json{
      {"kind", "TFJob"},
      {"metadata", {{"name", "j"}, {"namespace", "d"}, {"uid", "u-j"}}},
      {"status",
       {{"conditions", Json::array({{{"type", condition}, {"status", "True"}, {"message", message}}})}}}});
}

Object Pod(const std::string& name, const std::string& phase, const std::string& unschedulable = "",
           const std::string& owner = "u-j") {
  Json doc{{"kind", "Pod"},
           {"metadata", {{"name", name}, {"namespace", "d"}, {"uid", "u-" + name}}},
           {"spec", {{"containers", Json::array({{{"name", "main"}}})}}},
           {"status", {{"phase", phase}}}};
  if (!owner.empty())
    doc["metadata"]["ownerReferences"] =
        Json::array({{{"controller", true}, {"kind", "TFJob"}, {"name", "j"}, {"uid", owner}}});
  if (unschedulable.empty()) doc["spec"]["nodeName"] = "n";
  else
    doc["status"]["conditions"] =
        Json::array({{{"type", "PodScheduled"}, {"status", "False"}, {"message", unschedulable}}});
  return Object(doc);
}

Object Warning(const std::string& name, const std::string& reason) {
  return Object(Json{{"kind", "Event"},
                     {"metadata", {{"name", "e"}, {"namespace", "d"}}},
                     {"type", "Warning"},
                     {"reason", reason},
                     {"message", "m"},
                     {"involvedObject", {{"kind", "Pod"}, {"namespace", "d"}, {"name", name}}}});
}

struct Run {
  std::vector<std::string> said;
  RunMonitor monitor{{{"TFJob", "d", "j"}},
                     [this](RunMonitor::Importance importance, const std::string& line) {
                       said.push_back((importance == RunMonitor::Importance::kWarning ? "! " : "") + line);
                     }};
};

TEST_CASE("success, with what was said on the way") {
  Run run;
  run.monitor.Observe(Job("Created"), At(0));
  run.monitor.Observe(Pod("p", "Running"), At(1));
  run.monitor.Observe(Job("Running"), At(1));
  run.monitor.Observe(Warning("p", "BackOff"), At(2));
  run.monitor.Observe(Warning("p", "BackOff"), At(2));
  run.monitor.Observe(Warning("stranger", "BackOff"), At(2));
  CHECK(!run.monitor.Judge(At(2)));
  CHECK(run.monitor.StatusLine(std::chrono::seconds(2)) ==
        "tfjob/j Running | pods: 0 pending, 1 running, 0 succeeded, 0 failed | 2s");
  run.monitor.Observe(Job("Succeeded"), At(3));
  CHECK(run.monitor.Judge(At(3))->code == kRunSucceeded);
  CHECK(run.said == std::vector<std::string>{"tfjob/j Created", "tfjob/j Running", "! pod/p BackOff: m",
                                             "tfjob/j Succeeded"});
}

TEST_CASE("failure names the job and why") {
  Run run;
  run.monitor.Observe(Job("Failed", "because"), At(1));
  const auto outcome = run.monitor.Judge(At(1));
  REQUIRE(outcome);
  CHECK(outcome->code == kRunFailed);
  CHECK(outcome->error->message == "tfjob/j failed: because");
}

TEST_CASE("a deleted job has failed") {
  Run run;
  run.monitor.Observe(Job("Running"), At(0));
  run.monitor.Forget(Job("Running"), At(1));
  CHECK(run.monitor.Judge(At(1))->code == kRunFailed);
}

TEST_CASE("a pod that only its siblings keep out waits in vain, after a moment") {
  Run run;
  run.monitor.Observe(Job("Created"), At(0));
  run.monitor.Observe(Pod("ps", "Running"), At(0));
  run.monitor.Observe(Pod("w", "Pending", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."), At(0));
  CHECK(!run.monitor.Judge(At(0)));
  CHECK(!run.monitor.Judge(At(2)));
  const auto outcome = run.monitor.Judge(At(4));
  REQUIRE(outcome);
  CHECK(outcome->code == kRunImpossible);
  CHECK(outcome->error->hint.find("--gpus N") != std::string::npos);
}

TEST_CASE("another job's pod may make room") {
  Run run;
  run.monitor.Observe(Job("Created"), At(0));
  run.monitor.Observe(Pod("other", "Running", "", "u-other"), At(0));
  run.monitor.Observe(Pod("w", "Pending", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."), At(0));
  CHECK(!run.monitor.Judge(At(0)));
  CHECK(!run.monitor.Judge(At(100)));
  run.monitor.Observe(Pod("w", "Running"), At(101));
  CHECK(!run.monitor.Judge(At(200)));
}

TEST_CASE("an image that can't be had ends the run") {
  Run run;
  run.monitor.Observe(Job("Created"), At(0));
  Json doc = Pod("w", "Pending").doc();
  doc["status"]["containerStatuses"] = Json::array(
      {{{"name", "main"}, {"state", {{"waiting", {{"reason", "ErrImagePull"}, {"message", "unknown"}}}}}}});
  run.monitor.Observe(Object(doc), At(0));
  const auto outcome = run.monitor.Judge(At(0));
  REQUIRE(outcome);
  CHECK(outcome->code == kRunImpossible);
  CHECK(outcome->error->message == "pod/w: ErrImagePull: unknown");
}

}  // namespace
}  // namespace tfemu::cli
