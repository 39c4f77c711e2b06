// The pure parts of `tfemu sweep`: settings and what they change, figures in logs, table, CSV, JSON and plot.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tools/cli/sweep_metric.h"
#include "tools/cli/sweep_plot.h"
#include "tools/cli/sweep_results.h"
#include "tools/cli/sweep_settings.h"

namespace tfemu::cli {
namespace {

using api::Json;

Json Job() {
  return Json::parse(
      R"({"kind": "TFJob", "metadata": {"name": "mnist", "annotations": {"a.b/c": "x"}}, "spec": {
    "runPolicy": {"cleanPodPolicy": "Running"},
    "tfReplicaSpecs": {
      "PS": {"replicas": 1, "template": {"spec": {"containers": [
        {"name": "tensorflow", "args": ["python", "x.py", "--batch_size=8"]}, {"name": "sidecar"}]}}},
      "Worker": {"replicas": 1, "template": {"spec": {"containers": [
        {"name": "tensorflow", "args": ["--batch_size", "8"], "env": [{"name": "N", "value": "1"}]}]}}}}}})");
}

Json Container(const Json& job, const std::string& type) {
  return job["spec"]["tfReplicaSpecs"][type]["template"]["spec"]["containers"][0];
}

// The error and its hint, or "" when the setting was applied.
std::string Refusal(const std::string& key, const std::string& value = "1") {
  Json job = Job();
  const auto applied = ApplySetting(job, key, value);
  return applied.ok() ? "" : applied.error().message + " | " + applied.error().hint;
}

std::string ParseRefusal(const std::string& text) {
  const auto setting = ParseSetting(text);
  return setting.ok() ? "" : setting.error().message;
}

TEST_CASE("settings as they are written") {
  const auto setting = ParseSetting("arg:--x=a\\,b,c=d").value();
  CHECK(setting.key == "arg:--x");
  CHECK(setting.values == std::vector<std::string>{"a,b", "c=d"});
  CHECK(ParseRefusal("Worker.replicas").find("no \"=\"") != std::string::npos);
  CHECK(ParseRefusal("=1").find("no key") != std::string::npos);
  CHECK(ParseRefusal("Worker.replicas=").find("empty") != std::string::npos);
  CHECK(ParseRefusal("Worker.replicas=1,,2").find("empty value") != std::string::npos);
  CHECK(ParseRefusal("Worker.replicas=1,1").find("twice") != std::string::npos);
  CHECK(ParseRefusal("Worker.env:=1").find("name is missing") != std::string::npos);
  CHECK(ParseSettings({"a.b=1", "a.b=2"}).error().message.find("given twice") != std::string::npos);
}

TEST_CASE("every combination, the last setting changes fastest") {
  const auto all = Combine(ParseSettings({"a=1,2", "b=x,y"}).value());
  REQUIRE(all.size() == 4);
  CHECK(Describe(all[1]) == "a=1 b=y");
  CHECK(Describe(all[2]) == "a=2 b=x");
  CHECK(Combine({}).size() == 1);
  CHECK(
      ParseSettings({"a=1,2,3,4,5,6,7,8,9,10", "b=1,2,3,4,5,6,7,8,9,10", "c=1,2,3,4,5,6,7,8,9,10,11"}).ok() ==
      false);
}

TEST_CASE("replicas and paths") {
  Json job = Job();
  REQUIRE(ApplySetting(job, "Worker.replicas", "4").ok());
  CHECK(job["spec"]["tfReplicaSpecs"]["Worker"]["replicas"] == 4);
  REQUIRE(ApplySetting(job, "spec.runPolicy.cleanPodPolicy", "None").ok());
  REQUIRE(ApplySetting(job, "spec.runPolicy.backoffLimit", "3").ok());
  CHECK(job["spec"]["runPolicy"] == Json{{"cleanPodPolicy", "None"}, {"backoffLimit", 3}});
  REQUIRE(ApplySetting(job, "metadata.annotations.\"a.b/c\"", "true").ok());
  REQUIRE(ApplySetting(job, "metadata.annotations.new", "7").ok());
  CHECK(job["metadata"]["annotations"] == Json{{"a.b/c", "true"}, {"new", "7"}});
  REQUIRE(ApplySetting(job, "PS.template.spec.containers[1].image", "busybox:1").ok());
  CHECK(job["spec"]["tfReplicaSpecs"]["PS"]["template"]["spec"]["containers"][1]["image"] == "busybox:1");
}

TEST_CASE("arguments replace the flag that is there, in both of its forms, and are put after the rest else") {
  Json job = Job();
  REQUIRE(ApplySetting(job, "arg:--batch_size", "32").ok());
  CHECK(Container(job, "PS")["args"] == Json{"python", "x.py", "--batch_size=32"});
  CHECK(Container(job, "Worker")["args"] == Json{"--batch_size", "32"});
  REQUIRE(ApplySetting(job, "Worker.arg:--steps", "5").ok());
  CHECK(Container(job, "Worker")["args"] == Json{"--batch_size", "32", "--steps=5"});
  CHECK(Container(job, "PS")["args"].size() == 3);
}

TEST_CASE("variables") {
  Json job = Job();
  REQUIRE(ApplySetting(job, "env:N", "2").ok());
  CHECK(Container(job, "PS")["env"] == Json::array({{{"name", "N"}, {"value", "2"}}}));
  CHECK(Container(job, "Worker")["env"] == Json::array({{{"name", "N"}, {"value", "2"}}}));
}

TEST_CASE("what leads nowhere is refused with near matches") {
  CHECK(Refusal("worker.replicas") ==
        "--set worker.replicas: the job has no replica type \"worker\" | did you mean \"Worker\"?");
  CHECK(Refusal("Wroker.arg:--x").find("did you mean \"Worker\"?") != std::string::npos);
  CHECK(Refusal("Worker.replica").find("did you mean \"replicas\"?") != std::string::npos);
  CHECK(Refusal("spec.runPolcy.backoffLimit").find("did you mean \"runPolicy\"?") != std::string::npos);
  CHECK(Refusal("Worker.template.spec.containers[2].image").find("[0] to [0]") != std::string::npos);
  CHECK(Refusal("Worker.template").find("not a single value") != std::string::npos);
  CHECK(Refusal("Worker").find("a field is missing") != std::string::npos);
  CHECK(Refusal("spec..x").find("empty part") != std::string::npos);
  CHECK(Refusal("metadata.\"x").find("quote") != std::string::npos);
}

TEST_CASE("names of runs are legal, differ, and stay the same from call to call") {
  const Assignment one = {{"Worker.replicas", "1"}}, two = {{"Worker.replicas", "2"}};
  CHECK(NameOfRun("mnist", one, 1) != NameOfRun("mnist", two, 1));
  CHECK(NameOfRun("mnist", one, 1) == NameOfRun("mnist", one, 1));
  CHECK(NameOfRun("mnist", one, 2) == NameOfRun("mnist", one, 1) + "-2");
  CHECK(NameOfRun(std::string(60, 'a'), one, 1000).size() <= 51);
}

TEST_CASE("the figures of our own programs") {
  const auto metric = Metric::Make("", std::nullopt).value();
  const auto benchmark =
      metric.Gather({{"ps-0", "Running parameter server 0\n"},
                     {"worker-0", "INFO| total images/sec: 1.5\nINFO| total images/sec: 300.00\n"},
                     {"worker-1", "total images/sec: 302.00"}});
  REQUIRE(benchmark);
  CHECK(benchmark->total == 301);
  CHECK(benchmark->per_pod == 150.5);
  const auto trainer =
      metric.Gather({{"master-0", "[+ 9s] master-0 made 40 steps in 1.20 s, 3000 images/sec\n"},
                     {"worker-0", "worker-0 made 40 steps in 1.20 s, 2000 images/sec"}});
  REQUIRE(trainer);
  CHECK(trainer->total == 5000);
  CHECK(trainer->per_pod == 2500);
  CHECK_FALSE(metric.Gather({{"worker-0", "nothing"}}));
}

TEST_CASE("a user's expression") {
  const auto metric = Metric::Make("^accuracy ([0-9.]+)$", Total::kMax).value();
  const auto found = metric.Gather({{"a", "x\naccuracy 0.5\naccuracy 0.25\n"}, {"b", "accuracy 0.75"}});
  REQUIRE(found);
  CHECK(found->total == 0.75);
  CHECK(found->pods.at("a") == 0.25);
  CHECK(Metric::Make("a(b", std::nullopt).error().message.find("missing )") != std::string::npos);
  CHECK(Metric::Make("ab", std::nullopt).error().message.find("0 groups") != std::string::npos);
  CHECK(Metric::Make("(a)(b)", std::nullopt).error().message.find("2 groups") != std::string::npos);
  CHECK_FALSE(Metric::Make("()", std::nullopt).value().Gather({{"a", std::string(1000, 'x')}}));
  CHECK_FALSE(ParseTotal("average").ok());
}

SweepPoint Point(const Assignment& assignment, std::vector<double> totals, double wall) {
  SweepPoint point{assignment, "key of " + Describe(assignment), {}};
  for (const double total : totals)
    point.runs.push_back({wall, Figures{{{"worker-0", total}}, total, total / 2}});
  return point;
}

SweepResults Results() {
  SweepResults results{
      "mnist", "images/sec", false, ParseSettings({"Worker.replicas=1,2", "arg:--b=8,16"}).value(), {}};
  const double totals[] = {100, 150, 180, 330};
  size_t next = 0;
  for (const auto& assignment : Combine(results.settings))
    results.points.push_back(Point(assignment, {totals[next++]}, 10));
  return results;
}

TEST_CASE("medians of repeated runs") {
  CHECK(Point({}, {5, 1, 3}, 2).total() == 3);
  CHECK(Point({}, {5, 1, 3, 4}, 2).total() == 3.5);
  CHECK(Point({}, {}, 2).total() == std::nullopt);
}

TEST_CASE("points are compared within what else is the same") {
  const auto comparison = Compare(Results());
  CHECK(comparison.x_key == "Worker.replicas");
  REQUIRE(comparison.series.size() == 2);
  CHECK(comparison.series[0].name == "arg:--b=8");
  CHECK(comparison.series[0].points[1].speedup == doctest::Approx(1.8));
  CHECK(comparison.series[1].points[1].efficiency == doctest::Approx(1.1));
  auto by_wall = Results();
  by_wall.by_wall = true;
  by_wall.points[2].runs[0].wall_seconds = 5;
  CHECK(Compare(by_wall).series[0].points[1].speedup == doctest::Approx(2));
}

TEST_CASE("table and CSV") {
  const std::string table = FormatSweepTable(Results());
  CHECK(table.starts_with(
      "Worker.replicas   arg:--b   PER POD   TOTAL images/sec   SPEED-UP   EFFICIENCY   WALL    RUNS\n"));
  CHECK(table.find(
            "2                 8         90.00     180.00             1.80x      90 %         10.0s   1") !=
        std::string::npos);
  const std::string csv = FormatSweepCsv(Results());
  CHECK(csv.starts_with("Worker.replicas,arg:--b,per_pod,total,unit,speedup,efficiency,wall_seconds,runs\n"));
  CHECK(csv.find("2,16,165,330,images/sec,2.2,1.1,10,1\n") != std::string::npos);
  auto odd = Results();
  odd.settings = ParseSettings({"env:A=\"x\\,y\""}).value();
  odd.points = {Point({{"env:A", "\"x,y\""}}, {1}, 1)};
  CHECK(FormatSweepCsv(odd).find("\"\"\"x,y\"\"\",0.5") != std::string::npos);
}

TEST_CASE("a table without figures has only times") {
  SweepResults results{"mnist", "images/sec", false, {}, {SweepPoint{{}, "k", {{3, std::nullopt}}}}};
  CHECK(FormatSweepTable(results) ==
        "SPEED-UP   EFFICIENCY   WALL   RUNS\n-          -            3.0s   1\n");
}

TEST_CASE("results survive being written and read") {
  auto written = Results();
  written.others = {written.points.back()};
  written.points.pop_back();
  const auto read = PointsFromJson(SweepToJson(written).dump());
  REQUIRE(read.ok());
  REQUIRE(read.value().size() == 4);
  CHECK(read.value()[3].assignment == written.others[0].assignment);
  CHECK(read.value()[0].key == written.points[0].key);
  CHECK(read.value()[3].runs[0].figures->pods.at("worker-0") == 330);
  for (const char* broken :
       {"", "{", "[]", "{\"format\": 2}", "{\"format\": 1}", "{\"format\": 1, \"points\": [{}]}"})
    CHECK_FALSE(PointsFromJson(broken).ok());
}

TEST_CASE("ticks are round and reach above the largest value") {
  CHECK(Ticks(297) == std::vector<double>{0, 100, 200, 300, 400});
  CHECK(Ticks(0.9).size() == 6);
  CHECK(Ticks(0.9).back() == doctest::Approx(1));
  CHECK(Ticks(0).size() == 2);
  for (const double largest : {1e-9, 3.0, 7.5, 99.0, 12345.0}) {
    CHECK(Ticks(largest).back() >= largest);
    CHECK(Ticks(largest).size() <= 8);
  }
}

TEST_CASE("the plot names axes, ideal and reference, and escapes what users wrote") {
  auto results = Results();
  results.job = "a<b";
  const auto svg = PlotSweep(results, {{"A10 & ECI", 198.28}});
  for (const char* part :
       {"a&lt;b: total images/sec", ">Worker.replicas<", "ideal:", "A10 &amp; ECI: 198.3", ">330.0<"})
    CHECK_MESSAGE(svg.find(part) != std::string::npos, part);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(SweepPage(results, svg, "tfemu sweep").find("<svg") != std::string::npos);
  CHECK(ParseReference("a=b=1.5").value().label == "a=b");
  for (const char* wrong : {"a", "=1", "a=", "a=x", "a=-1", "a=nan"}) CHECK_FALSE(ParseReference(wrong).ok());
}

}  // namespace
}  // namespace tfemu::cli
