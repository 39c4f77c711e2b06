// Tables and descriptions against what kubectl printed of the same documents (tests/golden/printer).
#include "emulator/api/printer.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emulator/api/view.h"
#include "emulator/codec/table.h"
#include "emulator/codec/yaml.h"

namespace tfemu::api {
namespace {

std::string ReadGolden(const std::string& name) {
  std::ifstream file(std::string(GOLDEN_FOLDER) + "/" + name);
  REQUIRE_MESSAGE(file.good(), name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Recording {
  std::map<std::string, std::vector<Object>> objects;  // by kind
  std::map<std::string, std::string> outputs;          // by command
};

Recording Load(const std::string& name) {
  Recording recording;
  const auto documents = codec::ParseYaml(ReadGolden(name + ".yaml"), name);
  REQUIRE(documents.ok());
  for (const auto& document : documents.value()) {
    Object object(document.value);
    recording.objects[object.key().kind].push_back(object);
  }
  std::istringstream text(ReadGolden(name + ".txt"));
  std::string* section = nullptr;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("$ ")) section = &recording.outputs[line.substr(2)];
    else if (section != nullptr && !line.empty()) *section += line + "\n";
  }
  return recording;
}

// The recordings do not say at which instant each command ran.
bool SomeInstantGives(const std::string& expected, int64_t second,
                      const std::function<std::string(Instant)>& print) {
  std::string last;
  for (int64_t tenth = -10; tenth < 30; ++tenth) {
    last = print(Instant{second * 1'000'000'000 + tenth * 100'000'000});
    if (last == expected) return true;
  }
  MESSAGE("expected:\n", expected, "printed:\n", last);
  return false;
}

std::string Tabled(const std::string& kind, const std::vector<Object>& objects, bool wide, Instant now) {
  return codec::TablePrinter({.wide = wide}).Format(PrintTable(kind, objects, now));
}

TEST_CASE("tables and descriptions equal kubectl's") {
  const std::vector<std::pair<std::string, int64_t>> cases = {
      {"tutorial", 1796063571}, {"fail-onfailure-1", 1796063634}, {"fail-ps-never-1", 1796063695}};
  for (const auto& [name, second] : cases) {
    CAPTURE(name);
    const Recording recording = Load(name);
    const auto check = [&, second = second](const std::string& command, const std::string& kind, bool wide) {
      CAPTURE(command);
      CHECK(SomeInstantGives(recording.outputs.at(command), second, [&](Instant now) {
        return Tabled(kind, recording.objects.at(kind), wide, now);
      }));
    };
    check("kubectl get tfjob", "TFJob", false);
    check("kubectl get pods -o wide", "Pod", true);
    check("kubectl get svc", "Service", false);
    check("kubectl get events", "Event", false);
    const Object& job = recording.objects.at("TFJob").front();
    CHECK(SomeInstantGives(recording.outputs.at("kubectl describe tfjob " + job.key().name), second,
                           [&](Instant now) {
                             DescribeContext context{.now = now};
                             for (const auto& event : recording.objects.at("Event"))
                               if (ViewEvent(event).uid == job.uid()) context.events.push_back(event);
                             return Describe(job, context);
                           }));
  }
}

Json PodWith(const std::string& status, const std::string& more = "{}") {
  Json pod = {{"spec", {{"containers", Json::array({{{"name", "a"}}})}}}, {"status", Json::parse(status)}};
  pod.merge_patch(Json::parse(more));
  return pod;
}

TEST_CASE("the STATUS word of a pod") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"phase": "Pending"})", "Pending"},
      {R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]})",
       "SchedulingGated"},
      {R"({"phase": "Failed", "reason": "Evicted"})", "Evicted"},
      {R"({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ContainerCreating"}}}]})",
       "ContainerCreating"},
      {R"({"phase": "Running", "containerStatuses": [{"ready": true, "state": {"running": {}}}]})",
       "Running"},
      {R"({"phase": "Running", "containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]})",
       "CrashLoopBackOff"},
      {R"({"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {"reason": "Completed"}}}]})",
       "Completed"},
      {R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"reason": "Error", "exitCode": 1}}}]})",
       "Error"},
      {R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}]})",
       "OOMKilled"},
      {R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]})",
       "ExitCode:3"},
      {R"({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 137, "signal": 9}}}]})",
       "Signal:9"},
      {R"({"phase": "Running", "containerStatuses": [{"ready": true, "state": {"running": {}}}, {"state": {"terminated": {"reason": "Completed"}}}]})",
       "NotReady"},
      {R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
         "containerStatuses": [{"ready": true, "state": {"running": {}}}, {"state": {"terminated": {"reason": "Completed"}}}]})",
       "Running"},
      {R"({"phase": "Pending", "initContainerStatuses": [{"state": {"running": {}}}]})", "Init:0/1"},
      {R"({"phase": "Pending", "initContainerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]})",
       "Init:0/1"},
      {R"({"phase": "Pending", "initContainerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}]})",
       "Init:ErrImagePull"},
      {R"({"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 2}}}]})",
       "Init:ExitCode:2"},
      {R"({"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]})",
       "Init:Error"},
      {R"({"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}],
         "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]})",
       "PodInitializing"}};
  for (const auto& [status, word] : cases) {
    CAPTURE(status);
    CHECK(PodStatusWord(PodWith(status, R"({"spec": {"initContainers": [{"name": "i"}]}})")) == word);
  }
  const std::string going = R"({"metadata": {"deletionTimestamp": "2026-11-30T18:32:45Z"}})";
  CHECK(PodStatusWord(PodWith(R"({"phase": "Running"})", going)) == "Terminating");
  CHECK(PodStatusWord(PodWith(R"({"phase": "Failed"})", going)) == "Failed");
}

TEST_CASE("tables of kinds without a recording") {
  const auto table = [](const std::string& json, bool wide = false) {
    const Object object(Json::parse(json));
    return Tabled(object.key().kind, {object}, wide, Instant{1'796'063'571'000'000'000});
  };
  const std::string meta = R"("metadata": {"name": "x", "creationTimestamp": "2026-11-30T18:32:45Z"})";
  CHECK(table(R"({"kind": "PersistentVolume", )" + meta +
              R"(, "spec": {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteMany"],
    "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "nas", "claimRef": {"namespace": "d", "name": "c"}}, "status": {"phase": "Bound"}})") ==
        "NAME   CAPACITY   ACCESS MODES   RECLAIM POLICY   STATUS   CLAIM   STORAGECLASS   "
        "VOLUMEATTRIBUTESCLASS   REASON   AGE\n"
        "x      10Gi       RWX            Retain           Bound    d/c     nas            <unset>           "
        "               6s\n");
  CHECK(table(R"({"kind": "Deployment", )" + meta +
                  R"(, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "template": {"spec":
    {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}}}, "status": {"readyReplicas": 1, "updatedReplicas": 2}})",
              true) ==
        "NAME   READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES   SELECTOR\n"
        "x      1/2     2            0           6s    a,b          i,j      app=x\n");
  CHECK(
      table(
          R"({"kind": "Node", )" + meta +
          R"(, "spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "True"}],
    "nodeInfo": {"kubeletVersion": "v1"}}})") ==
      "NAME   STATUS                     ROLES    AGE   VERSION\nx      Ready,SchedulingDisabled   <none>   "
      "6s    v1\n");
  CHECK(table(R"({"kind": "Secret", )" + meta + R"(, "type": "Opaque", "data": {"a": "", "b": ""}})") ==
        "NAME   TYPE     DATA   AGE\nx      Opaque   2      6s\n");
  CHECK(table(R"({"kind": "Strange", )" + meta + "}") == "NAME   AGE\nx      6s\n");
}

}  // namespace
}  // namespace tfemu::api
