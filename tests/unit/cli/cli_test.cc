// The pure parts of the command line.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"
#include "tools/cli/complete.h"
#include "tools/cli/junit.h"
#include "tools/cli/manifests.h"
#include "tools/cli/output.h"
#include "tools/cli/parse.h"
#include "tools/cli/port_mapping.h"
#include "tools/cli/progress.h"
#include "tools/cli/targets.h"
#include "tools/cli/wait_for.h"

namespace tfemu::cli {
namespace {

using api::Json;

std::string Show(const Result<std::vector<Target>>& targets) {
  if (!targets.ok()) return "error: " + targets.error().message + " | " + targets.error().hint;
  std::string text;
  for (const auto& target : targets.value())
    text += std::string(target.kind->singular) + ":" + target.name + " ";
  return text;
}

TEST_CASE("what objects are meant") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"pods"}, "pod: "},
      {{"po", "a", "b"}, "pod:a pod:b "},
      {{"POD/a", "tfjob/x"}, "pod:a tfjob:x "},
      {{"svc,pvc"}, "service: persistentvolumeclaim: "},
      {{"tfjobs.kubeflow.org", "x"}, "tfjob:x "},
      {{"all"}, "pod: service: daemonset: deployment: replicaset: statefulset: cronjob: job: tfjob: "},
      {{"deploy,rs", "a"}, "deployment:a replicaset:a "}};
  for (const auto& [words, expected] : cases) {
    CAPTURE(words.front());
    CHECK(Show(ParseTargets(words)) == expected);
  }
  CHECK(Show(ParseTargets({"pdos"})) == "error: unknown kind \"pdos\" | did you mean \"pods\"?");
  CHECK(Show(ParseTargets({"tfjbo"})) == "error: unknown kind \"tfjbo\" | did you mean \"tfjob\"?");
  CHECK(Show(ParseTargets({"pod/a", "b"})).starts_with("error: \"b\" lacks its kind"));
  CHECK(Show(ParseTargets({"pod/"})).starts_with("error: \"pod/\" lacks a name"));
  CHECK(ParseTarget("a", "Pod").value().name == "a");
  CHECK(DisplayName(*api::FindKind("TFJob"), "x") == "tfjob.kubeflow.org/x");
  CHECK(DisplayName(*api::FindKind("Pod"), "x") == "pod/x");
}

TEST_CASE("ports") {
  const auto show = [](const std::string& text) {
    const auto mapping = ParsePortMapping(text);
    return mapping.ok() ? std::to_string(mapping.value().local) + " " + mapping.value().remote : "error";
  };
  CHECK(show("6006") == "6006 6006");
  CHECK(show("8080:6006") == "8080 6006");
  CHECK(show(":6006") == "0 6006");
  CHECK(show("0:http") == "0 http");
  CHECK(show("http") == "-1 http");
  for (const char* wrong : {"", ":", "a:", "70000", "0", "1:2:3", "-1:80", "x:80", "80:0"}) {
    CAPTURE(wrong);
    CHECK(show(wrong) == "error");
  }
}

TEST_CASE("what wait waits for") {
  const api::Object job(Json::parse(R"({"kind": "TFJob", "metadata": {"name": "x", "generation": 2}, "status":
    {"phase": "P", "observedGeneration": 2, "conditions": [{"type": "Running", "status": "False"}, {"type": "Failed", "status": "True"}]}})"));
  const auto judge = [&](const std::string& wanted, const api::Object* object) {
    const auto parsed = ParseWaitFor(wanted);
    REQUIRE_MESSAGE(parsed.ok(), wanted);
    return parsed.value()(object);
  };
  CHECK(judge("condition=failed", &job) == Verdict::kMet);
  CHECK(judge("condition=Running=false", &job) == Verdict::kMet);
  CHECK(judge("condition=Running", &job) == Verdict::kPending);
  CHECK(judge("condition=Created", &job) == Verdict::kPending);
  CHECK(judge("condition=Succeeded", &job) == Verdict::kHopeless);
  CHECK(judge("condition=Failed", nullptr) == Verdict::kHopeless);
  CHECK(judge("delete", &job) == Verdict::kPending);
  CHECK(judge("delete", nullptr) == Verdict::kMet);
  CHECK(judge("create", &job) == Verdict::kMet);
  CHECK(judge("jsonpath={.status.phase}=P", &job) == Verdict::kMet);
  CHECK(judge("jsonpath='{.status.phase}'=P", &job) == Verdict::kMet);
  CHECK(judge("jsonpath=.status.phase=P", &job) == Verdict::kMet);
  CHECK(judge("jsonpath={.status.phase}", &job) == Verdict::kMet);
  CHECK(judge("jsonpath={.status.conditions[?(@.type==\"Failed\")].status}=True", &job) == Verdict::kMet);
  for (const char* wrong : {"", "condition=", "ready", "jsonpath={.a"}) CHECK(!ParseWaitFor(wrong).ok());
  const api::Object stale = job.With("/metadata", Json{{"generation", 3}});
  CHECK(judge("condition=failed", &stale) == Verdict::kPending);
}

TEST_CASE("output forms") {
  CHECK(ParseOutputFormat("wide").value().type == OutputFormat::Type::kWide);
  CHECK(ParseOutputFormat("yml").error().hint == "did you mean \"yaml\"?");
  CHECK(!ParseOutputFormat("jsonpath={").ok());
  const api::Object pod(Json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})"));
  CHECK(FormatDocument(ParseOutputFormat("name").value(), pod) == "pod/a\n");
  CHECK(FormatDocument(ParseOutputFormat("yaml").value(), pod) ==
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n");
  CHECK(FormatList(ParseOutputFormat("jsonpath={.items[*].metadata.name}").value(), {pod, pod}) == "a a");
}

int Run(const std::vector<std::string>& arguments) {
  Session session([](const std::string&) { return std::string(); }, {});
  session.flags.cluster = "none-such";
  return RunCommandLine(arguments, session);
}

TEST_CASE("usage errors end with 2, refusals with 1") {
  CHECK(Run({}) == 2);
  CHECK(Run({"gte"}) == 2);
  CHECK(Run({"get"}) == 2);
  CHECK(Run({"get", "podz"}) == 2);
  CHECK(Run({"get", "pods", "--no-such"}) == 2);
  CHECK(Run({"get", "pods", "-o", "yml"}) == 2);
  CHECK(Run({"logs"}) == 2);
  CHECK(Run({"exec", "a"}) == 2);
  CHECK(Run({"wait", "pod/a", "--for=x"}) == 2);
  CHECK(Run({"scale", "deployment/a", "--replicas=-1"}) == 2);
  CHECK(Run({"port-forward", "a", "x:y"}) == 2);
  CHECK(Run({"run", "/no/such.yaml"}) == 2);
  CHECK(Run({"apply", "-f", "/no/such.yaml"}) == 1);
  CHECK(Run({"--help"}) == 0);
  CHECK(Run({"get", "--help"}) == 0);
}

TEST_CASE("every verb's help has an example") {
  for (const auto& verb : VerbNames()) CHECK(Run({verb, "--help"}) == 0);
}

TEST_CASE("completion without a cluster") {
  Session session([](const std::string&) { return std::string(); }, {});
  session.flags.cluster = "none-such";
  const auto complete = [&](const std::vector<std::string>& words) {
    return Join(Complete(words, session), " ");
  };
  CHECK(complete({"ge"}) == "get");
  CHECK(complete({"get", "tfj"}) == "tfjob tfjobs");
  CHECK(complete({"get", "pods", "--out"}) == "--output");
  CHECK(complete({"get", "pods", "-o", "j"}) == "json jsonpath=");
  CHECK(complete({"apply", "-f", ""}) == "@files");
  CHECK(complete({"-n", "x", "sca"}) == "scale");
  CHECK(complete({"scale", "dep"}) == "deployment/");
  CHECK(complete({"image", "pre"}) == "prepare");
  CHECK(complete({"up", "--iso"}) == "--isolation");
  CHECK(complete({"up", "--isolation", "r"}) == "root rootless");
}

TEST_CASE("JUnit reports") {
  const Instant begin{1'800'000'000'000'000'000};
  RunItem good{{"TFJob", "default", "a"}, RunItem::State::kDone};
  good.ended = begin + std::chrono::milliseconds(1500);
  const RunItem bad{{"Pod", "default", "b"}, RunItem::State::kFailed, "Failed", "exit <1> & \"more\""};
  const RunItem open{{"Pod", "default", "c"}};
  const std::string xml =
      FormatJunit({{good, bad, open}, begin, begin + std::chrono::seconds(2), 124, "time-out"});
  CHECK(xml.find("tests=\"3\" failures=\"1\" errors=\"1\" time=\"2.000\"") != std::string::npos);
  CHECK(xml.find("name=\"default/a\" time=\"1.500\"/>") != std::string::npos);
  CHECK(xml.find("exit &lt;1&gt; &amp; &quot;more&quot;") != std::string::npos);
  CHECK(xml.find("<error message=\"time-out\"/>") != std::string::npos);
}

TEST_CASE("progress") {
  CHECK(FormatProgress(1, 2, "x") == "[############............] 1/2 x");
  CHECK(FormatProgress(3, 0, "x") == "x");
}

}  // namespace
}  // namespace tfemu::cli
