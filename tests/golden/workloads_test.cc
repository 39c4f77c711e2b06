// StatefulSets, DaemonSets and CronJobs on the whole control plane, on virtual time.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/cron_schedule.h"
#include "emulator/api/printer.h"
#include "emulator/base/time_format.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Names = std::vector<std::string>;

std::string StatefulSet(const std::string& spec, const std::string& mounts = "") {
  return "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web}\nspec:\n  serviceName: svc\n" + spec +
         "  selector: {matchLabels: {app: web}}\n"
         "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: 'i:1'" +
         mounts + "}]}}\n";
}

Names Pods(const World& world) {
  Names names;
  for (const auto& pod : world.List("Pod"))
    if (!pod.terminating()) names.push_back(pod.key().name);
  return names;
}

json Status(const World& world, const char* kind, const char* name) {
  return world.Get(kind, name).doc().at("status");
}

void Change(World& world, const char* kind, const char* name, const char* patch) {
  const auto object = world.Get(kind, name);
  REQUIRE(world.cluster->registry().Patch(object.key(), object.uid(), "", json::parse(patch)).ok());
  world.executor.Settle();
}

// Pods get ready one second after their start.
WorldOptions Slow() {
  return {.director = [](const auto&, const auto&) { return runtime::Script{.start_after = 1s}; }};
}

TEST_CASE("a StatefulSet makes its pods in order, with names, labels and claims of their own") {
  World world(Slow());
  world.Apply(
      StatefulSet("  replicas: 3\n  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: "
                  "[ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n",
                  ", volumeMounts: [{name: data, mountPath: /data}]"));
  const auto claim = world.Get("PersistentVolumeClaim", "data-web-0").doc();
  CHECK(claim.at("metadata").at("labels").at("app") == "web");
  CHECK(Pods(world) == Names{"web-0"});
  const json pod = world.Get("Pod", "web-0").doc();
  CHECK(pod.at("spec").at("hostname") == "web-0");
  CHECK(pod.at("spec").at("subdomain") == "svc");
  CHECK(pod.at("spec").at("volumes").at(0).at("persistentVolumeClaim").at("claimName") == "data-web-0");
  CHECK(pod.at("metadata").at("labels").at("apps.kubernetes.io/pod-index") == "0");
  CHECK(pod.at("metadata").at("labels").at("statefulset.kubernetes.io/pod-name") == "web-0");
}

TEST_CASE("a StatefulSet waits for each pod, and scales down in reverse") {
  World world(Slow());
  world.Apply(StatefulSet("  replicas: 3\n"));
  CHECK(Pods(world) == Names{"web-0"});
  world.Advance(1s);
  CHECK(Pods(world) == Names{"web-0", "web-1"});
  world.Advance(3s);
  CHECK(Pods(world) == Names{"web-0", "web-1", "web-2"});
  const json status = Status(world, "StatefulSet", "web");
  CHECK(status.at("readyReplicas") == 3);
  CHECK(status.at("currentRevision") == status.at("updateRevision"));
  CHECK(api::PrintTable("StatefulSet", world.List("StatefulSet"), world.executor.Now()).rows.at(0).cells ==
        Names{"web", "3/3", "4s", "c", "i:1"});
  REQUIRE(world.cluster->registry().Scale({"StatefulSet", "default", "web"}, "", 1).ok());
  world.executor.Settle();
  world.Advance(1s);
  CHECK(Pods(world) == Names{"web-0"});
  Names deleted;
  for (const auto& line : world.EventsOf("web"))
    if (line.find("SuccessfulDelete") != std::string::npos) deleted.push_back(line);
  CHECK(deleted == Names{"Normal SuccessfulDelete delete Pod web-2 in StatefulSet web successful",
                         "Normal SuccessfulDelete delete Pod web-1 in StatefulSet web successful"});
  world.Exit("web-0", 1, "c");
  world.Advance(2s);
  CHECK(Pods(world) == Names{"web-0"});
}

TEST_CASE("a StatefulSet in parallel waits for nobody, and ordinals may start anywhere") {
  World world(Slow());
  world.Apply(StatefulSet("  replicas: 2\n  podManagementPolicy: Parallel\n  ordinals: {start: 5}\n"));
  CHECK(Pods(world) == Names{"web-5", "web-6"});
}

TEST_CASE("a StatefulSet rolls from the last pod down to its partition") {
  World world(Slow());
  world.Apply(StatefulSet("  replicas: 3\n  updateStrategy: {rollingUpdate: {partition: 1}}\n"));
  world.Advance(5s);
  Change(world, "StatefulSet", "web",
         R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}}})");
  const auto image = [&](const char* name) {
    return world.Get("Pod", name).doc().at("spec").at("containers").at(0).at("image").get<std::string>();
  };
  world.Advance(500ms);
  CHECK(image("web-1") == "i:1");
  world.Advance(10s);
  CHECK(image("web-0") == "i:1");
  CHECK(image("web-1") == "i:2");
  CHECK(image("web-2") == "i:2");
  CHECK(Status(world, "StatefulSet", "web").at("updatedReplicas") == 2);
  CHECK(world.List("ControllerRevision").size() == 2);
  // Below the partition a pod that is made again keeps the old template.
  REQUIRE(world.cluster->registry().Delete({"Pod", "default", "web-0"}, {}).ok());
  world.executor.Settle();
  world.Advance(3s);
  CHECK(image("web-0") == "i:1");
  Change(world, "StatefulSet", "web", R"({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})");
  world.Advance(5s);
  CHECK(image("web-0") == "i:2");
  const json status = Status(world, "StatefulSet", "web");
  CHECK(status.at("currentRevision") == status.at("updateRevision"));
}

TEST_CASE("a StatefulSet keeps as many former templates as it is asked to, the latest") {
  World world;
  world.Apply(StatefulSet("  replicas: 1\n  revisionHistoryLimit: 1\n"));
  for (const char* image : {"i:2", "i:3"}) {
    const json containers = json::array({{{"name", "c"}, {"image", image}}});
    Change(world, "StatefulSet", "web",
           json{{"spec", {{"template", {{"spec", {{"containers", containers}}}}}}}}.dump().c_str());
    world.Advance(40s);
  }
  std::vector<int> revisions;
  for (const auto& revision : world.List("ControllerRevision"))
    revisions.push_back(revision.doc().at("revision"));
  std::ranges::sort(revisions);
  CHECK(revisions == std::vector{2, 3});
  const auto table =
      api::PrintTable("ControllerRevision", world.List("ControllerRevision"), world.executor.Now());
  CHECK(table.rows.at(0).cells.at(1) == "statefulset.apps/web");
}

TEST_CASE("claims of a StatefulSet stay or go as it says, and OnDelete leaves pods alone") {
  World world;
  world.Apply(
      StatefulSet("  replicas: 2\n  updateStrategy: {type: OnDelete}\n"
                  "  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Delete}\n"
                  "  podManagementPolicy: Parallel\n"
                  "  volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce], "
                  "resources: {requests: "
                  "{storage: 1Gi}}}}]\n"));
  world.Advance(2s);
  Change(world, "StatefulSet", "web", R"({"spec": {"replicas": 1}})");
  world.Advance(40s);
  CHECK_FALSE(world.Exists("PersistentVolumeClaim", "d-web-1"));
  CHECK(world.Exists("PersistentVolumeClaim", "d-web-0"));
  const std::string uid = world.Get("Pod", "web-0").uid();
  Change(world, "StatefulSet", "web", R"({"spec": {"template": {"metadata": {"annotations": {"a": "b"}}}}})");
  world.Advance(5s);
  CHECK(world.Get("Pod", "web-0").uid() == uid);
  REQUIRE(world.cluster->registry().Delete({"StatefulSet", "default", "web"}, {}).ok());
  world.executor.Settle();
  world.Advance(40s);
  CHECK_FALSE(world.Exists("PersistentVolumeClaim", "d-web-0"));
}

std::string DaemonSet(const std::string& strategy) {
  return "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  updateStrategy: " +
         strategy +
         "\n  selector: {matchLabels: {app: agent}}\n"
         "  template: {metadata: {labels: {app: agent}}, spec: {terminationGracePeriodSeconds: 1, "
         "containers: "
         "[{name: c, image: 'i:1'}]}}\n";
}

constexpr const char* kNewImage =
    R"({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}}})";

TEST_CASE("a DaemonSet has a pod on every node that suits it, and counts them") {
  World world;
  Change(world, "Node", "node-3", R"({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})");
  Change(world, "Node", "node-2", R"({"spec": {"unschedulable": true}})");
  world.Apply(DaemonSet("{}"));
  world.Advance(1s);
  Names nodes;
  for (const auto& pod : world.List("Pod")) nodes.push_back(pod.doc().at("spec").at("nodeName"));
  std::ranges::sort(nodes);
  CHECK(nodes == Names{"node-1", "node-2"});
  CHECK(api::PrintTable("DaemonSet", world.List("DaemonSet"), world.executor.Now()).rows.at(0).cells ==
        Names{"agent", "2", "2", "2", "2", "2", "<none>", "1s", "c", "i:1", "app=agent"});
  Change(world, "Node", "node-3", R"({"spec": {"taints": null}})");
  world.Advance(1s);
  CHECK(Status(world, "DaemonSet", "agent").at("numberReady") == 3);
}

TEST_CASE("a DaemonSet rolls out as many nodes at once as it may") {
  for (const auto& [roll, most] : {std::pair("{maxUnavailable: 1}", 1),
                                   {"{maxUnavailable: 60%}", 2},
                                   {"{maxSurge: 1, maxUnavailable: 0}", 1}}) {
    INFO(roll);
    World world(Slow());
    world.Apply(DaemonSet("{rollingUpdate: " + std::string(roll) + "}"));
    world.Advance(3s);
    Change(world, "DaemonSet", "agent", kNewImage);
    int missing = 0;
    for (int step = 0; step < 40; ++step) {
      missing = std::max(missing, Status(world, "DaemonSet", "agent").value("numberUnavailable", 0));
      world.Advance(500ms);
    }
    CHECK(missing == most);
    CHECK(Status(world, "DaemonSet", "agent").at("updatedNumberScheduled") == 3);
    CHECK(Status(world, "DaemonSet", "agent").at("numberReady") == 3);
  }
}

TEST_CASE("a DaemonSet that updates on deletion only leaves its pods alone") {
  World world;
  world.Apply(DaemonSet("{type: OnDelete}"));
  world.Advance(2s);
  const Names before = Pods(world);
  Change(world, "DaemonSet", "agent", kNewImage);
  world.Advance(10s);
  CHECK(Pods(world) == before);
  REQUIRE(world.cluster->registry().Delete({"Pod", "default", before.at(0)}, {}).ok());
  world.Advance(10s);
  CHECK(Status(world, "DaemonSet", "agent").at("updatedNumberScheduled") == 1);
}

std::string CronJob(const std::string& spec) {
  return "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: cj}\nspec:\n" + spec +
         "  jobTemplate: {metadata: {labels: {team: a}}, spec: {backoffLimit: 0, template: {spec: "
         "{restartPolicy: Never, "
         "containers: [{name: c, image: i}]}}}}\n";
}

Names Jobs(const World& world) {
  Names names;
  for (const auto& job : world.List("Job")) names.push_back(job.key().name);
  return names;
}

// The world begins at 18:40 on 30 November 2025: minute 29408800.
TEST_CASE("a CronJob starts a Job when it is due, named after the minute") {
  World world;
  world.Apply(CronJob("  schedule: '*/5 * * * *'\n"));
  CHECK(Jobs(world).empty());
  world.Advance(5min);
  CHECK(Jobs(world) == Names{"cj-29408805"});
  const json status = Status(world, "CronJob", "cj");
  CHECK(status.at("lastScheduleTime") == "2025-11-30T18:45:00Z");
  CHECK(status.at("active").at(0).at("name") == "cj-29408805");
  CHECK(world.Get("Job", "cj-29408805")
            .doc()
            .at("metadata")
            .at("annotations")
            .at("batch.kubernetes.io/cronjob-scheduled-timestamp") == "2025-11-30T18:45:00Z");
  CHECK(world.Get("Job", "cj-29408805").doc().at("metadata").at("labels").at("team") == "a");
  CHECK(api::PrintTable("CronJob", world.List("CronJob"), world.executor.Now()).rows.at(0).cells ==
        Names{"cj", "*/5 * * * *", "<none>", "False", "1", "0s", "5m", "c", "i", "<none>"});
  world.Advance(1s);
  for (const auto& pod : world.List("Pod")) world.Exit(pod.key().name, 0, "c");
  world.Advance(1s);
  CHECK_FALSE(Status(world, "CronJob", "cj").contains("active"));
  CHECK(Status(world, "CronJob", "cj").contains("lastSuccessfulTime"));
  const auto events = world.EventsOf("cj");
  CHECK(events == Names{"Normal SuccessfulCreate Created job cj-29408805",
                        "Normal SawCompletedJob Saw completed job: cj-29408805, condition: Complete"});
}

TEST_CASE("a CronJob allows, forbids or replaces Jobs that still run") {
  for (const auto& [policy, running] : {std::pair("Allow", 2), {"Forbid", 1}, {"Replace", 1}}) {
    INFO(policy);
    World world;
    world.Apply(CronJob("  schedule: '* * * * *'\n  concurrencyPolicy: " + std::string(policy) + "\n"));
    world.Advance(2min);
    world.Advance(40s);
    CHECK(Jobs(world).size() == static_cast<size_t>(running));
    const std::string last = Jobs(world).back();
    CHECK(last == (std::string_view(policy) == "Forbid" ? "cj-29408801" : "cj-29408802"));
  }
}

TEST_CASE("a suspended CronJob starts nothing, and what was missed beyond its deadline stays so") {
  World world;
  world.Apply(CronJob("  schedule: '@hourly'\n  suspend: true\n  startingDeadlineSeconds: 600\n"));
  world.Advance(45min);
  CHECK(Jobs(world).empty());
  Change(world, "CronJob", "cj", R"({"spec": {"suspend": false}})");  // 19:25, due at 19:00
  CHECK(Jobs(world).empty());
  world.Advance(35min);
  CHECK(Jobs(world).size() == 1);
}

TEST_CASE("a CronJob keeps as many ended Jobs as it is asked to") {
  World world({.director = [](const auto&, const auto&) { return runtime::Script{.run_for = 1s}; }});
  world.Apply(CronJob("  schedule: '* * * * *'\n  successfulJobsHistoryLimit: 2\n"));
  world.Advance(10min);
  world.Advance(40s);
  CHECK(Jobs(world) == Names{"cj-29408809", "cj-29408810"});
  World failing(
      {.director = [](const auto&, const auto&) { return runtime::Script{.run_for = 1s, .exit_code = 1}; }});
  failing.Apply(CronJob("  schedule: '* * * * *'\n  failedJobsHistoryLimit: 3\n"));
  failing.Advance(10min);
  failing.Advance(40s);
  CHECK(Jobs(failing) == Names{"cj-29408808", "cj-29408809", "cj-29408810"});
}

TEST_CASE("a CronJob that is due every so often keeps step, whatever happens in between") {
  World world({.director = [](const auto&, const auto&) { return runtime::Script{.run_for = 20s}; }});
  world.Apply(CronJob("  schedule: '@every 90s'\n"));
  world.Advance(10min);
  const auto jobs = world.List("Job");
  REQUIRE(jobs.size() == 3);  // the history
  for (const auto& [index, made] : {std::pair(0, "18:46:00"), {1, "18:47:30"}, {2, "18:49:00"}})
    CHECK(jobs.at(static_cast<size_t>(index)).doc().at("metadata").at("creationTimestamp") ==
          "2025-11-30T" + std::string(made) + "Z");
}

TEST_CASE("a CronJob that is due twice in a minute starts one Job then") {
  World world;
  world.Apply(CronJob("  schedule: '@every 20s'\n"));
  world.Advance(50s);
  CHECK(Jobs(world) == Names{"cj-29408800"});
  CHECK(Status(world, "CronJob", "cj").at("lastScheduleTime") == "2025-11-30T18:40:40Z");
  CHECK(world.EventsOf("cj") == Names{"Normal SuccessfulCreate Created job cj-29408800"});
}

TEST_CASE("a CronJob that was away for long starts one Job, and says what it missed") {
  World world;
  world.Apply(CronJob("  schedule: '* * * * *'\n  suspend: true\n"));
  world.Advance(5h);
  Change(world, "CronJob", "cj", R"({"spec": {"suspend": false}})");
  CHECK(Jobs(world) == Names{"cj-29409100"});
  const auto events = world.EventsOf("cj");
  CHECK(events.at(0).starts_with("Warning TooManyMissedTimes too many missed start times."));
}

TEST_CASE("schedules") {
  const auto next = [](const char* schedule, const char* after) {
    const auto parsed = api::CronSchedule::Parse(schedule);
    REQUIRE_MESSAGE(parsed.ok(), parsed.error().message);
    const auto due = parsed.value().Next(*ParseTime(after));
    return due ? FormatTime(*due) : "never";
  };
  const char* sunday = "2025-11-30T18:40:30Z";
  CHECK(next("* * * * *", sunday) == "2025-11-30T18:41:00Z");
  CHECK(next("40 18 * * *", sunday) == "2025-12-01T18:40:00Z");
  CHECK(next("*/15 9-17/4 * * MON-FRI", sunday) == "2025-12-01T09:00:00Z");
  CHECK(next("0 0 13 * fri", sunday) == "2025-12-05T00:00:00Z");  // either day
  CHECK(next("0 0 */2 * *", sunday) == "2025-12-01T00:00:00Z");
  CHECK(next("0 0 29 2 *", sunday) == "2028-02-29T00:00:00Z");
  CHECK(next("0 0 30 2 *", sunday) == "never");
  CHECK(next("5/20 * * * *", sunday) == "2025-11-30T18:45:00Z");
  CHECK(next("@weekly", sunday) == "2025-12-07T00:00:00Z");
  CHECK(next("@every 1h30m", sunday) == "2025-11-30T20:10:30Z");
  for (const char* bad : {"", "* * * *", "60 * * * *", "* * 0 * *", "* * * * 7", "5-1 * * * *", "*/0 * * * *",
                          "a * * * *", "@often", "@every x", "TZ=UTC * * * * *"})
    CHECK_MESSAGE(!api::CronSchedule::Parse(bad).ok(), bad);
}

TEST_CASE("what is wrong with the further kinds") {
  World world;
  const auto refused = [&](const std::string& yaml) {
    const auto written = world.TryApply(yaml);
    REQUIRE_FALSE(written.ok());
    REQUIRE_FALSE(written.error().fields.empty());
    return written.error().fields[0].field + ": " + written.error().fields[0].message;
  };
  CHECK(refused(CronJob("  schedule: 'nonsense'\n")) ==
        "spec.schedule: Invalid value: \"nonsense\": expected exactly 5 fields, found 1: \"nonsense\"");
  CHECK(refused(StatefulSet("  podManagementPolicy: Some\n")) ==
        "spec.podManagementPolicy: Unsupported value: \"Some\": supported values: \"OrderedReady\", "
        "\"Parallel\"");
  CHECK(refused(StatefulSet("", ", volumeMounts: [{name: data, mountPath: /data}]")) ==
        "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"data\"");
  CHECK(refused("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {}\n") ==
        "spec.selector: Required value");
  CHECK(refused(DaemonSet("{rollingUpdate: {maxSurge: 1}}")) ==
        "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is "
        "non-zero");
  world.Apply(StatefulSet("  replicas: 1\n"));
  json other = world.Get("StatefulSet", "web").doc();
  other["spec"]["serviceName"] = "other";
  const auto changed = world.cluster->registry().Apply(other, {});
  REQUIRE_FALSE(changed.ok());
  CHECK(changed.error().fields.at(0).message.starts_with("Forbidden: updates to statefulset spec"));
}

}  // namespace
}  // namespace tfemu::test
