// The tutorial's job on the simulated control plane, phase by phase against what the real one recorded: the
// TFJob, its pods and services and the events, field by field, but for times, uids, versions, addresses, node
// names and what a kubelet reports.
#include <doctest/doctest.h>

#include <map>
#include <regex>

#include "emulator/api/decode.h"
#include "emulator/codec/yaml.h"
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
    CHECK_MESSAGE(snapshot.emplace(doc["kind"].get<std::string>() + " " + name, normal).second,
                  "twice: " << name);
  }
  return snapshot;
}

std::vector<Json> Recorded(const std::string& phase) {
  const std::string path = SourcePath("tests/golden/oracle/tutorial/" + phase + ".yaml");
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

void Compare(const World& world, const std::string& phase) {
  INFO("phase " << phase);
  const auto expected = Snapshot(Recorded(phase), "2026-11-30T18:32:45Z");
  const auto actual = Snapshot(Live(world), "");
  for (const auto& [name, doc] : expected) {
    const auto it = actual.find(name);
    if (it == actual.end()) {
      FAIL_CHECK("missing: " << name);
      continue;
    }
    const Json difference = Json::diff(doc, it->second);
    CHECK_MESSAGE(difference.empty(), name << ": " << difference.dump(1));
  }
  for (const auto& [name, doc] : actual)
    CHECK_MESSAGE(expected.contains(name), "not on the cluster: " << name);
}

TEST_CASE("the tutorial's job passes through the phases of the recording") {
  WorldOptions options;
  options.director = [](const auto&, const auto&) {
    return runtime::Script{.start_after = std::chrono::seconds(2)};
  };
  World world(options);
  world.Apply(ReadFile(SourcePath("examples/tutorial/nas-pv.yaml")));
  world.Apply(ReadFile(SourcePath("examples/tutorial/nas-pvc.yaml")));
  world.Apply(ReadFile(SourcePath("examples/tutorial/tf-mnist-gpu.yaml")));
  Compare(world, "01-created");
  world.Advance(std::chrono::seconds(3));
  Compare(world, "02-running");
  world.Exit("tf-mnist-gpu-master-0", 0);
  Compare(world, "03-master-succeeded");
  REQUIRE(world.cluster->registry().Delete({"TFJob", "default", "tf-mnist-gpu"}, {}).ok());
  world.Advance(std::chrono::seconds(60));
  Compare(world, "04-deleted");
}

}  // namespace
}  // namespace tfemu::test
