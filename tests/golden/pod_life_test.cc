// The kubelet's part in a pod's life, on the whole control plane and virtual time.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/pod.h"
#include "emulator/api/printer.h"
#include "emulator/api/scheme.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr const char* kSidecars = R"(
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 5
  initContainers:
  - {name: first, image: i, restartPolicy: Always}
  - {name: setup, image: i}
  - {name: second, image: i, restartPolicy: Always, startupProbe: {exec: {command: [x]}, initialDelaySeconds: 3}}
  containers: [{name: main, image: i}]
)";

struct PodWorld : World {
  PodWorld()
      : World({.director = [](const auto&, const auto& container) {
          runtime::Script script;
          if (container.name == "setup") script.run_for = 1s;
          return script;
        }}) {}
  json Status(const std::string& name = "p") const { return Get("Pod", name).doc().at("status"); }
  json State(const std::string& list, size_t index) const { return Status().at(list).at(index).at("state"); }
  bool Runs(const std::string& list, size_t index) const { return State(list, index).contains("running"); }
  std::vector<std::string> Row() const {
    const std::vector<api::Object> pods{Get("Pod", "p")};
    return api::PrintTable("Pod", pods, executor.Now()).rows.at(0).cells;
  }
};

constexpr const char* kInit = "initContainerStatuses";
constexpr const char* kMain = "containerStatuses";

TEST_CASE_FIXTURE(PodWorld, "sidecars start in order, and the next waits until one has started") {
  Apply(kSidecars);
  CHECK(Runs(kInit, 0));
  CHECK(Runs(kInit, 1));
  CHECK_FALSE(Runs(kInit, 2));
  CHECK(Row()[2] == "Init:1/3");
  Advance(1s);
  CHECK(State(kInit, 1).at("terminated").at("reason") == "Completed");
  CHECK(Runs(kInit, 2));
  Advance(2s);
  CHECK_FALSE(Runs(kMain, 0));
  CHECK(Status().at("phase") == "Pending");
  Advance(2s);
  CHECK(Runs(kMain, 0));
  CHECK(Status().at("phase") == "Running");
  const auto row = Row();
  CHECK(std::vector(row.begin() + 1, row.begin() + 4) == std::vector<std::string>{"3/3", "Running", "0"});
}

TEST_CASE_FIXTURE(PodWorld, "a sidecar is restarted whatever the policy, beside the containers") {
  Apply(kSidecars);
  Advance(10s);
  Exit("p", 0, "first");
  CHECK(Runs(kInit, 0));
  CHECK(Status().at(kInit).at(0).at("restartCount") == 1);
  Exit("p", 1, "first");
  CHECK(State(kInit, 0).at("waiting").at("reason") == "CrashLoopBackOff");
  CHECK(Runs(kMain, 0));
  CHECK(Status().at("phase") == "Running");
  CHECK(Row()[1] == "1/3");  // kubectl stops counting sidecars at the first that is not started
  Advance(10s);
  CHECK(Runs(kInit, 0));
  CHECK(Row()[3].starts_with("2 ("));
}

TEST_CASE_FIXTURE(PodWorld,
                  "sidecars end after the containers, the last first, and change nothing of the outcome") {
  Apply(kSidecars);
  Advance(10s);
  Exit("p", 0, "main");
  Advance(1s);
  CHECK(Status().at("phase") == "Succeeded");
  CHECK(State(kInit, 0).at("terminated").at("exitCode") == 143);
  const auto events = EventsOf("p");
  const auto at = [&](const std::string& line) { return std::ranges::find(events, line) - events.begin(); };
  CHECK(at("Normal Killing Stopping container second") < at("Normal Killing Stopping container first"));
  CHECK(at("Normal Killing Stopping container first") < std::ssize(events));
}

TEST_CASE("a sidecar that ignores SIGTERM is killed when the grace is over") {
  World world({.director = [](const auto&, const auto& container) {
    return runtime::Script{.ignores_sigterm = container.name == "side"};
  }});
  world.Apply(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 7
      initContainers: [{name: side, image: i, restartPolicy: Always}]
      containers: [{name: main, image: i}]
)");
  world.Advance(1s);
  const std::string pod = world.List("Pod").at(0).key().name;
  world.Exit(pod, 0, "main");
  world.Advance(6s);
  CHECK(world.Get("Pod", pod).doc().at("status").at("phase") == "Running");
  world.Advance(2s);
  CHECK(world.Get("Job", "j").doc().at("status").at("succeeded") == 1);
}

TEST_CASE_FIXTURE(PodWorld, "a deleted pod ends its containers before its sidecars") {
  Apply(kSidecars);
  Advance(10s);
  REQUIRE(cluster->registry().Delete({"Pod", "default", "p"}, {}).ok());
  executor.Settle();
  Advance(1s);
  CHECK_FALSE(Exists("Pod", "p"));
  std::vector<std::string> killed;
  for (const std::string& line : EventsOf("p"))
    if (line.starts_with("Normal Killing")) killed.push_back(line.substr(line.rfind(' ') + 1));
  CHECK(killed == std::vector<std::string>{"main", "second", "first"});
}

TEST_CASE_FIXTURE(PodWorld, "crash loops wait 10 s to 300 s, and afresh after ten minutes of running") {
  Apply("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: main, image: i}]}\n");
  int restarts = 0;
  for (const int wait : {0, 10, 20, 40, 80, 160, 300, 300}) {
    Exit("p", 1, "main");
    if (wait > 0) {
      Advance(std::chrono::seconds(wait) - 1ms);
      CHECK(State(kMain, 0).at("waiting").at("message").get<std::string>().starts_with(
          "back-off " + std::to_string(wait) + "s restarting failed container=main pod=p_default("));
      Advance(1ms);
    }
    CHECK(Runs(kMain, 0));
    CHECK(Status().at(kMain).at(0).at("restartCount") == ++restarts);
  }
  Advance(10min);
  Exit("p", 1, "main");
  CHECK(Runs(kMain, 0));
}

TEST_CASE_FIXTURE(PodWorld, "a container's status has all of the kubelet's fields") {
  Apply("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: main, image: 'i:1'}]}\n");
  json status = Status().at(kMain).at(0);
  CHECK(status.at("containerID").get<std::string>().starts_with("tfemu://"));
  CHECK(status.at("imageID").get<std::string>().starts_with("sha256:"));
  CHECK(status.at("image") == "i:1");
  CHECK(status.at("started") == true);
  CHECK(status.at("ready") == true);
  CHECK(status.at("lastState") == json::object());
  Exit("p", 2, "main");
  const json again = Status().at(kMain).at(0);
  CHECK(again.at("containerID") != status.at("containerID"));
  const json& last = again.at("lastState").at("terminated");
  CHECK(last.at("exitCode") == 2);
  CHECK(last.at("reason") == "Error");
  CHECK(last.at("containerID") == status.at("containerID"));
  CHECK(last.contains("startedAt"));
  CHECK(last.contains("finishedAt"));
}

TEST_CASE_FIXTURE(PodWorld, "root is refused where runAsNonRoot is asked for") {
  struct {
    const char* pod;
    const char* container;
    const char* message;  // nullptr: it runs
  } const cases[] = {
      {"{runAsNonRoot: true}", "{}", "container has runAsNonRoot and image will run as root"},
      {"{}", "{runAsNonRoot: true, runAsUser: 0}", "container's runAsUser breaks non-root policy"},
      {"{runAsNonRoot: true}", "{runAsUser: 7}", nullptr},
      {"{runAsNonRoot: true, runAsUser: 8}", "{}", nullptr},
      {"{runAsNonRoot: true}", "{runAsNonRoot: false}", nullptr},
  };
  int n = 0;
  for (const auto& c : cases) {
    const std::string name = "p" + std::to_string(n++);
    INFO(name);
    Apply("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {securityContext: " + c.pod +
          ", containers: [{name: main, image: i, securityContext: " + c.container + "}]}\n");
    const json state = Status(name).at(kMain).at(0).at("state");
    if (c.message == nullptr) {
      CHECK(state.contains("running"));
      continue;
    }
    REQUIRE(state.contains("waiting"));
    CHECK(state.at("waiting").at("reason") == "CreateContainerConfigError");
    CHECK(state.at("waiting").at("message").get<std::string>().starts_with(c.message));
  }
}

TEST_CASE_FIXTURE(PodWorld, "what is approximated in a pod is kept, and it runs all the same") {
  const json pod = json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
    "enableServiceLinks": false, "hostUsers": false, "imagePullSecrets": [{"name": "x"}], "os": {"name": "linux"},
    "preemptionPolicy": "Never", "priority": 7, "schedulerName": "default-scheduler", "serviceAccount": "builder",
    "serviceAccountName": "builder", "dnsPolicy": "Default",
    "securityContext": {"supplementalGroupsPolicy": "Strict"},
    "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 9}],
    "volumes": [{"name": "v", "emptyDir": {}}, {"name": "t", "projected": {"sources": [
      {"serviceAccountToken": {"path": "token", "audience": "me", "expirationSeconds": 600}}]}}],
    "containers": [{"name": "main", "image": "i", "imagePullPolicy": "Never",
      "securityContext": {"capabilities": {"add": ["MKNOD"]}},
      "readinessProbe": {"httpGet": {"port": 1, "host": "elsewhere"}, "initialDelaySeconds": 1},
      "livenessProbe": {"tcpSocket": {"port": 1, "host": "elsewhere"}, "terminationGracePeriodSeconds": 4},
      "volumeMounts": [{"name": "v", "mountPath": "/v", "mountPropagation": "None", "recursiveReadOnly": "Disabled"}]}]}})");
  const auto written = cluster->registry().Create(pod, {});
  REQUIRE(written.ok());
  CHECK(written.value().warnings.empty());
  executor.Settle();
  Advance(2s);
  CHECK(Status().at("phase") == "Running");
  CHECK(Status().at(kMain).at(0).at("ready") == true);
  const json stored = Get("Pod", "p").doc().at("spec");
  json want = pod.at("spec");
  for (const char* grows : {"tolerations", "volumes", "containers"}) want.erase(grows);
  for (const auto& [name, value] : want.items()) CHECK_MESSAGE(stored.at(name) == value, name);
}

TEST_CASE("what is approximated in a service is kept, and it has its address") {
  World world;
  const json service =
      json::parse(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {
    "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
    "sessionAffinity": "ClientIP", "trafficDistribution": "PreferClose", "type": "NodePort", "selector": {"a": "b"},
    "ports": [{"port": 80, "appProtocol": "http"}]}})");
  const auto written = world.cluster->registry().Create(service, {});
  REQUIRE(written.ok());
  const json stored = written.value().object.doc().at("spec");
  for (const char* name : {"internalTrafficPolicy", "ipFamilies", "ipFamilyPolicy", "sessionAffinity",
                           "trafficDistribution", "type"})
    CHECK_MESSAGE(stored.at(name) == service.at("spec").at(name), name);
  CHECK(stored.at("ports").at(0).at("appProtocol") == "http");
  CHECK(stored.at("clusterIP").get<std::string>().starts_with("10.96."));
  CHECK(stored.at("clusterIPs").at(0) == stored.at("clusterIP"));
}

TEST_CASE("what the server writes is not taken from a manifest") {
  World world;
  for (const char* kind : {"Pod", "ConfigMap", "Service", "PersistentVolumeClaim", "Secret"}) {
    INFO(kind);
    json doc = {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", "x"}}}};
    if (std::string_view(kind) == "Pod")
      doc["spec"] = json::parse(R"({"containers": [{"name": "c", "image": "i"}]})");
    if (std::string_view(kind) == "Service") doc["spec"] = json::parse(R"({"ports": [{"port": 1}]})");
    if (std::string_view(kind) == "PersistentVolumeClaim")
      doc["spec"] =
          json::parse(R"({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}})");
    json& meta = doc["metadata"];
    meta["uid"] = meta["resourceVersion"] = meta["selfLink"] = "7";
    meta["generation"] = meta["deletionGracePeriodSeconds"] = 77;
    meta["creationTimestamp"] = meta["deletionTimestamp"] = "2001-01-01T00:00:00Z";
    doc["status"] = {{"phase", "Nonsense"}};
    const auto written = world.cluster->registry().Create(doc, {});
    REQUIRE(written.ok());
    const json& stored = written.value().object.doc();
    CHECK(stored.at("metadata").at("uid") != "7");
    CHECK(stored.at("metadata").at("creationTimestamp") != "2001-01-01T00:00:00Z");
    for (const char* gone : {"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"})
      CHECK_MESSAGE(!stored.at("metadata").contains(gone), gone);
    CHECK(stored.at("metadata").value("generation", 1) == 1);
    CHECK((!stored.contains("status") || stored.at("status").value("phase", "") != "Nonsense"));
  }
}

TEST_CASE("a pod needs room for its containers and sidecars, or for the init containers on the way") {
  const auto requests = [](const char* init, const char* containers) {
    const json doc =
        json::parse(std::string(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{)") +
                    "\"initContainers\":" + init + ",\"containers\":" + containers + "}}");
    return api::PodRequests(api::DecodePod(api::Object(doc)).spec).at("cpu").milli;
  };
  const char* one = R"([{"resources":{"requests":{"cpu":"1"}}}])";
  const char* side = R"({"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}})";
  const char* init = R"({"resources":{"requests":{"cpu":"2500m"}}})";
  CHECK(requests("[]", one) == 1000);
  CHECK(requests((std::string("[") + side + "]").c_str(), one) == 3000);
  CHECK(requests((std::string("[") + init + "]").c_str(), one) == 2500);
  CHECK(requests((std::string("[") + side + "," + init + "]").c_str(), one) == 4500);
  CHECK(requests((std::string("[") + init + "," + side + "]").c_str(), one) == 3000);
}

}  // namespace
}  // namespace tfemu::test
