// Every wrong TFJob that a real API server answered: refused here in the same words, or taken as there; what
// differs on purpose stands in differences.txt with its reason.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"
#include "emulator/codec/yaml.h"
#include "tests/golden/table.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using api::Json;

const char kFolder[] = "tests/golden/oracle/invalid/";

struct Difference {
  bool refused = false;
  std::string words;
};

std::map<std::string, Difference> Differences() {
  std::map<std::string, Difference> differences;
  for (const Row& cells : ReadRows("oracle/invalid/differences.txt", 4)) {
    REQUIRE_MESSAGE(!cells[3].empty(), "a difference needs its reason: " << cells[0]);
    differences[cells[0]] = {cells[1] == "refused", cells[2]};
  }
  return differences;
}

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath(kFolder))) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".yaml") && !name.ends_with(".after.yaml"))
      cases.push_back(name.substr(0, name.size() - 5));
  }
  std::ranges::sort(cases);
  return cases;
}

// Our paths write a map's key after a dot, so that they lead back to a line of the manifest.
std::string WithDots(const std::string& text) {
  return std::regex_replace(text, std::regex(R"(\[([A-Za-z]+)\])"), ".$1");
}

// HTTP code and message; a server that has it already has taken it (the recorder asked twice).
std::pair<int, std::string> Recorded(const std::string& name) {
  const std::string path = SourcePath(kFolder + name + ".status.json");
  if (!std::filesystem::exists(path)) return {201, ""};
  const Json status = Json::parse(ReadFile(path));
  return {status["code"] == 409 ? 201 : status["code"].get<int>(), WithDots(status["message"])};
}

std::vector<std::string> OurWords(const Error& error) {
  std::vector<std::string> words;
  for (const FieldMessage& field : error.fields) words.push_back(field.field + ": " + field.message);
  if (words.empty()) words.push_back(error.message);
  return words;
}

Result<manager::Written> Create(const std::string& name, bool strict) {
  World world;
  REQUIRE(world.TryApply("{apiVersion: v1, kind: Namespace, metadata: {name: rec}}").ok());
  const std::string path = SourcePath(kFolder + name + ".yaml");
  auto documents = codec::ParseYaml(ReadFile(path), path);
  if (!documents.ok()) return documents.error();
  manager::WriteOptions options;
  options.strict = strict;
  return world.cluster->registry().Create(documents.value().at(0).value, options);
}

TEST_CASE("wrong TFJobs are answered as the recorded API server answered") {
  const auto differences = Differences();
  int refused = 0, taken = 0;
  for (const std::string& name : Cases()) {
    CAPTURE(name);
    const auto [code, message] = Recorded(name);
    const auto difference = differences.find(name);
    const bool differs = difference != differences.end();
    const auto written = Create(name, false);
    const bool expected = differs ? difference->second.refused : code >= 400;
    std::string why = written.ok() ? "" : Join(OurWords(written.error()), "; ");
    CHECK_MESSAGE(written.ok() == !expected, "refused: " << !written.ok() << " " << why);
    if (written.ok()) {
      ++taken;
      if (!differs) continue;
      for (const auto& warning : written.value().warnings) why += warning.field + ": " + warning.message;
      CHECK_MESSAGE(why.find(difference->second.words) != std::string::npos, why);
      continue;
    }
    ++refused;
    for (const std::string& words : OurWords(written.error()))
      CHECK_MESSAGE((differs ? difference->second.words : message).find(words) != std::string::npos, words);
  }
  MESSAGE("oracle/invalid: " << refused + taken << " cases, " << refused << " refused, " << taken
                             << " taken, " << differences.size() << " differ");
}

// A port that comes twice is told there with Go's dump of it, behind the finding that is told here, too.
std::string WithoutDump(const std::string& message) {
  static const std::regex kDump(
      R"(\[([^\]]*\][^,]*), spec\.ports\[[0-9]+\]: Duplicate value: core\.ServicePort\{.*\]$)");
  return std::regex_replace(message, kDump, "$1");
}

// Names of pods and services, and types and words of conditions and warnings, of the job "inv" or so.
std::set<std::string> Traces(const std::vector<Json>& docs, const std::string& job) {
  std::set<std::string> traces;
  for (const Json& doc : docs) {
    const std::string kind = doc["kind"], name = doc["metadata"]["name"];
    if ((kind == "Pod" || kind == "Service") && name.starts_with(job + "-")) traces.insert(kind + " " + name);
    if (kind == "TFJob" && name == job)
      for (const Json& c : api::Items(api::Member(doc, "status"), "conditions"))
        traces.insert("condition " + c["type"].get<std::string>() + " " + c["message"].get<std::string>());
    if (kind == "Event" && doc["type"] == "Warning" && doc["involvedObject"]["kind"] == "TFJob" &&
        doc["involvedObject"]["name"] == job)
      traces.insert("warning " + doc["reason"].get<std::string>() + " " +
                    WithoutDump(doc["message"].get<std::string>()));
  }
  return traces;
}

TEST_CASE("wrong TFJobs that are taken come as far as on the recorded cluster") {
  int compared = 0;
  for (const std::string& name : Cases()) {
    const std::string path = SourcePath(kFolder + name + ".after.yaml");
    if (!std::filesystem::exists(path)) continue;
    CAPTURE(name);
    World world(
        {.director = [](const auto&, const auto&) { return runtime::Script{.start_after = std::nullopt}; }});
    REQUIRE(world.TryApply("{apiVersion: v1, kind: Namespace, metadata: {name: rec}}").ok());
    const auto manifest = codec::ParseYaml(ReadFile(SourcePath(kFolder + name + ".yaml")), name);
    const Json& job = manifest.value().at(0).value;
    if (!world.cluster->registry().Create(job, {}).ok()) continue;
    world.Advance(std::chrono::seconds(3));
    std::vector<Json> recorded, live;
    const auto after = codec::ParseYaml(ReadFile(path), path);
    for (const auto& document : after.value()) recorded.push_back(document.value);
    for (const char* kind : {"TFJob", "Pod", "Service", "Event"})
      for (const api::Object& object : world.List(kind)) live.push_back(object.doc());
    const auto expected = Traces(recorded, job["metadata"]["name"]);
    const auto actual = Traces(live, job["metadata"]["name"]);
    for (const auto& trace : expected) CHECK_MESSAGE(actual.contains(trace), "missing: " << trace);
    for (const auto& trace : actual) CHECK_MESSAGE(expected.contains(trace), "not on the cluster: " << trace);
    ++compared;
  }
  CHECK(compared > 8);
  MESSAGE("oracle/invalid: " << compared << " states after");
}

TEST_CASE("unknown and misplaced fields are refused when asked to be strict") {
  for (const char* name : {"unknown-field", "flat-cleanpodpolicy"}) {
    CAPTURE(name);
    const auto lenient = Create(name, false);
    REQUIRE(lenient.ok());
    CHECK(!lenient.value().warnings.empty());
    CHECK(!Create(name, true).ok());
  }
}

}  // namespace
}  // namespace tfemu::test
