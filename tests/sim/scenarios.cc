#include "tests/sim/scenarios.h"

#include <nlohmann/json.hpp>

#include "tests/sim/manifests.h"

namespace tfemu::sim {
namespace {

using namespace std::chrono_literals;
using api::Json;

constexpr const char* kNamespace = "default";

Result<void> Done(const Result<manager::Written>& written) {
  if (written.ok() || written.error().reason == Reason::kAlreadyExists) return {};
  return written.error();
}

Scenario Training() {
  return {"training of five",
          {{0s, Create(MakeTFJob("t",
                                 {{"Chief", 1, "Never", {"run=20"}},
                                  {"PS", 2, "Never", {"forever"}},
                                  {"Worker", 2, "Never", {"run=15"}}},
                                 {{"cleanPodPolicy", "Running"}}))}},
          60s};
}

Scenario ExitCodes() {
  return {"retryable exits",
          {{0s, Create(MakeTFJob(
                    "e", {{"PS", 1, "Never", {"forever"}},
                          {"Worker", 2, "ExitCode", {"run=4 exit=137", "run=4 exit=130", "run=9"}}}))}},
          60s};
}

Scenario InPlace() {
  return {"restarts in place",
          {{0s, Create(MakeTFJob("o", {{"Worker", 2, "OnFailure", {"run=3 exit=1", "run=3 exit=1", "run=5"}}},
                                 {{"backoffLimit", 20}, {"cleanPodPolicy", "None"}}))}},
          120s};
}

Scenario Suspended() {
  const api::ObjectKey job{"TFJob", kNamespace, "s"};
  return {"suspend and resume",
          {{0s, Create(MakeTFJob("s", {{"Worker", 3, "Never", {"run=30"}}}))},
           {10s, Patch(job, {{"spec", {{"runPolicy", {{"suspend", true}}}}}})},
           {50s, Patch(job, {{"spec", {{"runPolicy", {{"suspend", false}}}}}})}},
          150s};
}

Scenario Deletion() {
  return {"deletion in progress",
          {{0s, Create(MakeTFJob(
                    "d", {{"PS", 1, "Never", {"forever stubborn"}}, {"Worker", 2, "Never", {"forever"}}}))},
           {0s, Create(MakePod("alone", "Always", {"forever stubborn"}))},
           {10s, Delete({"TFJob", kNamespace, "d"})},
           {11s, Delete({"Pod", kNamespace, "alone"})}},
          90s};
}

Scenario Rollout() {
  const api::ObjectKey web{"Deployment", kNamespace, "web"};
  const Json next = {{"spec", {{"template", {{"metadata", {{"annotations", {{"version", "2"}}}}}}}}}};
  return {"rollout",
          {{0s, Create(MakeDeployment("web", 3, "1", {"forever slow=1"}))}, {20s, Patch(web, next)}},
          120s};
}

Scenario Batch() {
  return {"job with retries",
          {{0s, Create(MakeJob("b", {{"completions", 4}, {"parallelism", 2}, {"backoffLimit", 6}},
                               {"run=3 exit=1", "run=3"}))},
           {0s, Create(MakeJob("i", {{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}},
                               {"run=4"}))}},
          150s};
}

Scenario Init() {
  Json pod = MakePod("p", "OnFailure", {"run=10"});
  Json& spec = pod["spec"];
  for (const char* name : {"first", "second"}) {
    Json container = spec["containers"][0];
    container["name"] = name;
    container["command"] = {"sim", "", "run=2 exit=1", "run=2"};
    spec["initContainers"].push_back(container);
  }
  return {"init containers", {{0s, Create(pod)}}, 90s};
}

Scenario Probes() {
  Json web = MakeDeployment("probed", 2, "1", {"forever slow=1"});
  Json& container = web["spec"]["template"]["spec"]["containers"][0];
  for (const char* probe : {"readinessProbe", "livenessProbe", "startupProbe"})
    container[probe] = {{"tcpSocket", {{"port", 80}}}, {"periodSeconds", 5}, {"initialDelaySeconds", 2}};
  container["lifecycle"]["preStop"]["exec"]["command"] = {"true"};
  return {
      "probes",
      {{0s, Create(web)}, {30s, Patch({"Deployment", kNamespace, "probed"}, {{"spec", {{"replicas", 1}}}})}},
      120s};
}

Scenario Expiry() {
  return {"deadline and TTL",
          {{0s, Create(MakeTFJob("late", {{"Worker", 2, "Never", {"forever"}}},
                                 {{"activeDeadlineSeconds", 20}, {"cleanPodPolicy", "All"}}))},
           {0s, Create(MakeTFJob("brief", {{"Worker", 1, "Never", {"run=5"}}},
                                 {{"ttlSecondsAfterFinished", 15}}))}},
          90s};
}

}  // namespace

SimHost::Deed Create(Json manifest) {
  return [manifest = std::move(manifest)](manager::Registry& registry) {
    return Done(registry.Create(manifest, {}));
  };
}

SimHost::Deed Delete(api::ObjectKey key) {
  return [key = std::move(key)](manager::Registry& registry) -> Result<void> {
    const auto live = registry.Get(key);
    if (!live.ok() || live.value().terminating()) return {};
    const auto deleted = registry.Delete(key, {});
    if (deleted.ok()) return {};
    return deleted.error();
  };
}

SimHost::Deed Patch(api::ObjectKey key, Json patch) {
  return [key = std::move(key), patch = std::move(patch)](manager::Registry& registry) -> Result<void> {
    const auto live = registry.Get(key);
    if (!live.ok()) return {};
    const auto patched = registry.Patch(key, live.value().uid(), "", patch);
    if (patched.ok()) return {};
    return patched.error();
  };
}

std::vector<Scenario> Scenarios() {
  return {Training(), ExitCodes(), InPlace(), Suspended(), Deletion(),
          Rollout(),  Batch(),     Init(),    Probes(),    Expiry()};
}

}  // namespace tfemu::sim
