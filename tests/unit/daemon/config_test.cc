// What flags and cluster.yaml may say of GPUs and ECI zones, and how wrong things are called.
#include "emulator/daemon/config.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace tfemu::daemon {
namespace {

std::string Problem(nlohmann::json doc) {
  doc["apiVersion"] = "tfemu.dev/v1alpha1";
  doc["kind"] = "Cluster";
  const auto config = api::DecodeClusterConfig(doc);
  if (config.ok()) return "";
  return config.error().fields.at(0).field + ": " + config.error().fields.at(0).message;
}

std::string NodeProblem(const char* node) {
  return Problem({{"nodes", nlohmann::json::array({nlohmann::json::parse(node)})}});
}

TEST_CASE("values of the wrong type are called that, not unknown") {
  for (const char* gpus : {"\"two\"", "2", "true"})
    CHECK(NodeProblem((std::string("{\"gpus\": ") + gpus + "}").c_str())
              .starts_with("nodes[0].gpus: must be a mapping"));
  CHECK(NodeProblem(R"({"gpus": [1]})").starts_with("nodes[0].gpus[0]: must be a mapping"));
  CHECK(Problem({{"eci", true}}) == "eci: must be a mapping (got true)");
  CHECK(NodeProblem("7") == "nodes[0]: must be a mapping (got 7)");
  CHECK(Problem({{"eci", {{"gpus", "all"}}}}).starts_with("eci.gpus: must be a mapping"));
}

TEST_CASE("settings of the TFJob controller are checked where they stand") {
  CHECK(Problem({{"tfjob", {{"profile", "v1.1"}, {"evaluatorInCluster", true}}}}).empty());
  CHECK(Problem({{"tfjob", {{"retryRule", "lst"}}}}) ==
        "tfjob.retryRule: Unsupported value: \"lst\" (did you mean list?): supported values: ge128, list");
  CHECK(Problem({{"tfjob", "v1.1"}}) == "tfjob: must be a mapping (got \"v1.1\")");
  CHECK(Problem({{"tfjobs", 1}}) == "tfjobs: unknown field (did you mean tfjob?)");
}

TEST_CASE("sharing says how, or it would do nothing") {
  CHECK(NodeProblem(R"({"gpuSharing": {"replicas": 4}})") ==
        "nodes[0].gpuSharing.replicas: needs mode: timeSlicing or memory");
  CHECK(NodeProblem(R"({"gpuSharing": {"mode": "timeSlicing"}})")
            .starts_with("nodes[0].gpuSharing.replicas: is required"));
  CHECK(NodeProblem(R"({"gpuSharing": {"mode": "memory", "renameByDefault": true}})") ==
        "nodes[0].gpuSharing.renameByDefault: needs mode: timeSlicing");
  CHECK(NodeProblem(R"({"gpuSharing": {"mode": "timeSlicing", "replicas": 4, "renameByDefault": true}})")
            .empty());
}

std::string EciProblem(const std::string& zones, const std::string& gpus = "none", int cpus = 0) {
  Options options;
  options.eci = zones;
  options.gpus = gpus;
  options.cpus = cpus;
  const auto config = MakeConfig(options);
  return config.ok() ? "" : config.error().message;
}

TEST_CASE("zones of --eci: named once, and nothing said of nodes that are not there") {
  CHECK(EciProblem("cn-beijing-k,h").empty());
  CHECK(EciProblem("cn-beijing-k,k") == "ECI zone cn-beijing-k is named twice");
  CHECK(EciProblem("K B").starts_with("ECI zone \"cn-beijing-K B\": "));
  CHECK(EciProblem("k", "2") == "--gpus 2 is about nodes, and --eci has none");
  CHECK(EciProblem("k", "none", 64) == "--cpus 64 is about nodes, and --eci has none");
}

}  // namespace
}  // namespace tfemu::daemon
