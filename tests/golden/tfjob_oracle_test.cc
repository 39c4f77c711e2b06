// Recorded jobs on the simulated control plane, phase by phase against what the real one recorded: the
// TFJob, its pods and services and the events, field by field, but for times, uids, versions, addresses, node
// names and what a kubelet reports.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <regex>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"
#include "emulator/codec/yaml.h"
#include "tests/golden/table.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using api::Json;

const char* kServerMeta[] = {"creationTimestamp", "resourceVersion", "uid", "deletionTimestamp",
                             "managedFields"};

void EraseEverywhere(Json& value, const std::vector<std::string>& names) {
  if (value.is_object()) {
    for (const auto& name : names) value.erase(name);
    for (auto& [key, member] : value.items()) EraseEverywhere(member, names);
  } else if (value.is_array()) {
    for (Json& item : value) EraseEverywhere(item, names);
  }
}

std::string WithoutSuffixes(const std::string& text) {
  const std::string plain =
      std::regex_replace(text, std::regex("kube-api-access-[a-z0-9]{5}"), "kube-api-access-?");
  return std::regex_replace(plain, std::regex("to node-[0-9]+"), "to node-?");
}

Json Normal(Json doc) {
  for (const char* name : kServerMeta) doc["metadata"].erase(name);
  const std::string kind = doc["kind"];
  if (kind == "Pod") {
    doc.erase("status");
    doc["spec"].erase("nodeName");
  }
  EraseEverywhere(doc,
                  {"lastTransitionTime", "lastUpdateTime", "startTime", "completionTime", "firstTimestamp",
                   "lastTimestamp", "eventTime", "uid", "resourceVersion", "reportingInstance"});
  if (kind == "Event") doc["metadata"].erase("name");
  return Json::parse(WithoutSuffixes(doc.dump()));
}

bool Compared(const Json& doc) {
  const std::string kind = doc["kind"];
  if (kind == "TFJob" || kind == "Pod") return true;
  if (kind == "Service")
    return doc["metadata"]["name"] != "kubernetes";  // the recording's API server; ours has none
  if (kind != "Event") return false;
  const std::string about = doc["involvedObject"]["kind"];
  return about == "TFJob" || (about == "Pod" && api::Text(doc, "reportingComponent") == "default-scheduler");
}

// Keyed so that a difference names the object; events by what they say.
std::map<std::string, Json> Snapshot(const std::vector<Json>& docs, const std::string& not_before) {
  std::map<std::string, Json> snapshot;
  for (const Json& doc : docs) {
    if (!Compared(doc)) continue;
    const std::string made = doc["metadata"].value("creationTimestamp", "");
    if (doc["kind"] == "Event" && made < not_before) continue;  // of an earlier run on the recorded cluster
    const Json normal = Normal(doc);
    const std::string name =
        doc["kind"] == "Event"
            ? WithoutSuffixes(doc["reason"].get<std::string>() + " " + doc["message"].get<std::string>())
            : doc["metadata"]["name"].get<std::string>();
    std::string key = doc["kind"].get<std::string>() + " " + name;
    while (snapshot.contains(key)) key += " again";  // about a second pod of the same name
    snapshot.emplace(key, normal);
  }
  return snapshot;
}

std::vector<Json> Recorded(const std::string& phase) {
  const std::string path = SourcePath("tests/golden/oracle/" + phase + ".yaml");
  auto documents = codec::ParseYaml(ReadFile(path), path);
  REQUIRE_MESSAGE(documents.ok(), documents.error().message);
  std::vector<Json> docs;
  for (auto& document : documents.value()) docs.push_back(std::move(document.value));
  return docs;
}

std::vector<Json> Live(const World& world) {
  std::vector<Json> docs;
  for (const char* kind : {"TFJob", "Pod", "Service", "Event"})
    for (const api::Object& object : world.List(kind)) docs.push_back(object.doc());
  return docs;
}

// What may differ in one phase: object and pointer (or "missing", "extra").
using Allowed = std::vector<std::pair<std::string, std::string>>;

bool IsAllowed(const Allowed& allowed, const std::string& object, const std::string& what) {
  return std::ranges::any_of(allowed, [&](const auto& row) {
    return object.starts_with(row.first) && what.starts_with(row.second);
  });
}

// The operator walks roles, and the pods it deletes, in Go's random order of maps: within a role creations
// are in order, and so is all that is said of one replica.
std::string OrderGroup(const std::string& words) {
  std::smatch match;
  if (!std::regex_search(words, match, std::regex("-((chief|master|ps|worker|evaluator)-[0-9]+)"))) return "";
  return words.find("Created") == std::string::npos ? match[1].str() : match[2].str();
}

// The job's events in the order they first came; an event's name ends in the time in hex.
Row EventOrder(const std::vector<Json>& docs, const std::string& not_before) {
  std::vector<std::pair<std::string, std::string>> events;
  for (const Json& doc : docs) {
    if (doc["kind"] != "Event" || doc["involvedObject"]["kind"] != "TFJob") continue;
    if (doc["metadata"].value("creationTimestamp", "") < not_before) continue;
    const std::string name = doc["metadata"]["name"];
    events.emplace_back(name.substr(name.rfind('.') + 1),
                        doc["reason"].get<std::string>() + " " + doc["message"].get<std::string>());
  }
  std::ranges::stable_sort(events, {}, &std::pair<std::string, std::string>::first);
  Row order;
  for (auto& [time, words] : events) order.push_back(std::move(words));
  std::ranges::stable_sort(order, {}, OrderGroup);
  return order;
}

void Compare(const World& world, const std::string& phase, const std::string& not_before,
             const Allowed& allowed) {
  INFO("phase " << phase);
  const auto recorded = Recorded(phase);
  const auto expected = Snapshot(recorded, not_before);
  const auto actual = Snapshot(Live(world), "");
  for (const auto& [name, doc] : expected) {
    const auto it = actual.find(name);
    if (it == actual.end()) {
      CHECK_MESSAGE(IsAllowed(allowed, name, "missing"), "missing: " << name);
      continue;
    }
    for (const Json& step : Json::diff(doc, it->second))
      CHECK_MESSAGE(IsAllowed(allowed, name, step["path"]), name << ": " << step.dump());
  }
  for (const auto& [name, doc] : actual)
    if (!expected.contains(name))
      CHECK_MESSAGE(IsAllowed(allowed, name, "extra"), "not on the cluster: " << name);
  if (!IsAllowed(allowed, "Events", "order"))
    CHECK(Join(EventOrder(Live(world), ""), "\n") == Join(EventOrder(recorded, not_before), "\n"));
}

runtime::Script StartsIn2s(const runtime::PodLaunch&, const runtime::ContainerLaunch&) {
  return {.start_after = std::chrono::seconds(2)};
}

WorldOptions SlowStart() {
  WorldOptions options;
  options.director = StartsIn2s;
  return options;
}

class Replay {
 public:
  explicit Replay(const std::string& name) : folder_("tests/golden/oracle/tfjob/" + name + "/") {
    const std::string input = ReadFile(SourcePath(folder_ + "input.yaml"));
    auto documents = codec::ParseYaml(input, "input.yaml");
    REQUIRE(documents.ok());
    job_ = documents.value().at(0).value["metadata"]["name"];
  }

  void Step(const std::string& text) {
    const Row words = Split(std::string(Trim(text)), ' ');
    manager::Registry& registry = world.cluster->registry();
    const api::ObjectKey key{"TFJob", "default", job_};
    if (words[0] == "create") world.Apply(ReadFile(SourcePath(folder_ + "input.yaml")));
    else if (words[0] == "delete") REQUIRE(registry.Delete(key, {}).ok());
    else if (words[0] == "wait") world.Advance(std::chrono::seconds(*ParseInt(words.at(1))));
    else if (words[0] == "exit")
      world.Exit(job_ + "-" + words.at(1), static_cast<int>(*ParseInt(words.at(2))));
    else if (words[0] == "workers")
      REQUIRE(registry.Scale(key, "Worker", static_cast<int>(*ParseInt(words.at(1)))).ok());
    else if (words[0] == "suspend")
      REQUIRE(registry
                  .Patch(key, world.Get("TFJob", job_).uid(), "",
                         Json::parse(R"({"spec": {"runPolicy": {"suspend": )" + words.at(1) + "}}}"))
                  .ok());
    else FAIL("unknown step " << text);
    world.executor.Settle();
  }

  World world{SlowStart()};

 private:
  std::string folder_, job_;
};

TEST_CASE("the tutorial's job passes through the phases of the recording") {
  const char not_before[] = "2026-11-30T18:32:45Z";
  World world(SlowStart());
  for (const char* file : {"nas-pv.yaml", "nas-pvc.yaml", "tf-mnist-gpu.yaml"})
    world.Apply(ReadFile(SourcePath(std::string("examples/tutorial/") + file)));
  Compare(world, "tutorial/01-created", not_before, {});
  world.Advance(std::chrono::seconds(3));
  Compare(world, "tutorial/02-running", not_before, {});
  world.Exit("tf-mnist-gpu-master-0", 0);
  Compare(world, "tutorial/03-master-succeeded", not_before, {});
  REQUIRE(world.cluster->registry().Delete({"TFJob", "default", "tf-mnist-gpu"}, {}).ok());
  world.Advance(std::chrono::seconds(60));
  Compare(world, "tutorial/04-deleted", not_before, {});
}

TEST_CASE("recorded cases pass through the phases of the recordings") {
  const auto differences = ReadRows("oracle/tfjob/differences.txt", 5);
  std::map<std::string, std::unique_ptr<Replay>> cases;
  const auto steps = ReadRows("oracle/tfjob/steps.txt", 3);
  for (const Row& row : steps) {
    CAPTURE(row[0]);
    auto& replay = cases[row[0]];
    if (replay == nullptr) replay = std::make_unique<Replay>(row[0]);
    for (const std::string& step : Split(row[2], ';')) replay->Step(step);
    Allowed allowed;
    for (const Row& d : differences)
      if (d[0] == row[0] && (d[1] == "*" || d[1] == row[1])) allowed.emplace_back(d[2], d[3]);
    Compare(replay->world, "tfjob/" + row[0] + "/" + row[1], "", allowed);
  }
  MESSAGE("oracle/tfjob: " << cases.size() << " cases, " << steps.size() << " phases, " << differences.size()
                           << " differences kept");
}

}  // namespace
}  // namespace tfemu::test
