// Older layouts of TFJob made into kubeflow.org/v1, and the settings of the controller.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/api/tfjob.h"

namespace tfemu::api {
namespace {

struct Converted {
  Json doc;
  LayoutChange change;
};

Converted Modernize(const std::string& version, const char* spec) {
  Converted converted{Json::object({{"apiVersion", version}, {"kind", "TFJob"}, {"spec", Json::parse(spec)}}),
                      {}};
  converted.change = ModernizeTFJob(converted.doc);
  CHECK(converted.doc["apiVersion"] == "kubeflow.org/v1");
  return converted;
}

std::vector<std::string> Warned(const Converted& converted) {
  std::vector<std::string> fields;
  for (const auto& warning : converted.change.warnings) fields.push_back(warning.field);
  return fields;
}

using Fields = std::vector<std::string>;

TEST_CASE("today's layout stays as it is") {
  const char* spec = R"({"runPolicy": {"backoffLimit": 1}, "tfReplicaSpecs": {"Worker": {}}})";
  const auto same = Modernize("kubeflow.org/v1", spec);
  CHECK(same.doc["spec"] == Json::parse(spec));
  CHECK(same.change.warnings.empty());
}

TEST_CASE("flat fields go to runPolicy, which wins over them") {
  for (const char* version :
       {"kubeflow.org/v1alpha2", "kubeflow.org/v1beta1", "kubeflow.org/v1beta2", "kubeflow.org/v1"}) {
    CAPTURE(version);
    const auto flat = Modernize(
        version, R"({"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 5, "activeDeadlineSeconds": 6,
                     "backoffLimit": 7, "runPolicy": {"backoffLimit": 1}})");
    CHECK(flat.doc["spec"] == Json::parse(R"({"runPolicy": {"cleanPodPolicy": "All", "backoffLimit": 1,
                     "ttlSecondsAfterFinished": 5, "activeDeadlineSeconds": 6}})"));
    Fields expected = {"spec.activeDeadlineSeconds", "spec.backoffLimit", "spec.cleanPodPolicy",
                       "spec.ttlSecondsAfterFinished"};
    if (version != std::string("kubeflow.org/v1")) expected.insert(expected.begin(), "apiVersion");
    CHECK(Warned(flat) == expected);
    CHECK(PathAsWritten(flat.change, "spec.runPolicy.cleanPodPolicy") == "spec.cleanPodPolicy");
    CHECK(PathAsWritten(flat.change, "spec.runPolicy.backoffLimit") == "spec.runPolicy.backoffLimit");
  }
}

TEST_CASE("the list of v1alpha1 becomes the map") {
  const auto list = Modernize("tensorflow.org/v1alpha1", R"({
    "cleanupPodPolicy": "Running", "runtimeId": "x1", "schedulerName": "mine",
    "terminationPolicy": {"chief": {"replicaName": "MASTER", "replicaIndex": 0}},
    "replicaSpecs": [
      {"replicas": 1, "tfReplicaType": "MASTER", "tfPort": 3333,
       "template": {"spec": {"restartPolicy": "OnFailure", "containers": [{"name": "tensorflow"}]}}},
      {"replicas": 2, "tfReplicaType": "WORKER", "template": {"spec": {"schedulerName": "own", "containers": []}}},
      {"tfReplicaType": "PS"}]})");
  CHECK(list.change.errors.empty());
  CHECK(list.doc["spec"] == Json::parse(R"({
    "runPolicy": {"cleanPodPolicy": "Running"},
    "tfReplicaSpecs": {
      "Master": {"replicas": 1, "restartPolicy": "OnFailure", "template": {"spec": {"schedulerName": "mine",
        "containers": [{"name": "tensorflow", "ports": [{"name": "tfjob-port", "containerPort": 3333}]}]}}},
      "Worker": {"replicas": 2, "template": {"spec": {"schedulerName": "own", "containers": []}}},
      "PS": {}}})"));
  CHECK(Warned(list) == Fields{"apiVersion", "spec.cleanupPodPolicy", "spec.replicaSpecs[0]",
                               "spec.replicaSpecs[1]", "spec.replicaSpecs[2]", "spec.terminationPolicy",
                               "spec.runtimeId"});
  CHECK(PathAsWritten(list.change, "spec.tfReplicaSpecs.Worker.template.spec.containers") ==
        "spec.replicaSpecs[1].template.spec.containers");
  CHECK(PathAsWritten(list.change, "metadata.name") == "metadata.name");
}

TEST_CASE("what has no place today is said, or refused") {
  const auto other = Modernize("kubeflow.org/v1alpha1", R"({"terminationPolicy": {"chief": {"replicaName":
    "WORKER", "replicaIndex": 1}}, "replicaSpecs": [{"tfReplicaType": "WORKER"}, {"tfReplicaType": "PS"}]})");
  CHECK(other.change.warnings.back() ==
        FieldMessage{"spec.terminationPolicy", "is not honoured: Worker 0 decides when the job has ended"});
  const auto twice = Modernize("kubeflow.org/v1alpha1",
                               R"({"replicaSpecs": [{"tfReplicaType": "PS"}, {"tfReplicaType": "ps"}, 7]})");
  CHECK(twice.change.errors ==
        std::vector<FieldMessage>{{"spec.replicaSpecs[1].tfReplicaType", "Duplicate value: \"ps\""},
                                  {"spec.replicaSpecs[2]", "must be a mapping"}});
  // The default type was the master, and a port that is named already stays.
  const auto master =
      Modernize("kubeflow.org/v1alpha1", R"({"replicaSpecs": [{"tfPort": 1, "template": {"spec":
    {"containers": [{"name": "tensorflow", "ports": [{"name": "tfjob-port", "containerPort": 9}]}]}}}]})");
  CHECK(master.doc["spec"]["tfReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["ports"].size() ==
        1);
}

TEST_CASE("documents of any shape are converted or left to the next check") {
  for (const char* spec :
       {"null", "7", "[]", R"({"runPolicy": 7, "cleanPodPolicy": "All"})", R"({"replicaSpecs": {}})",
        R"({"replicaSpecs": [null]})", R"({"replicaSpecs": [{"template": []}], "terminationPolicy": 3})",
        R"({"replicaSpecs": [{"template": {"spec": {"containers": [1]}}, "tfPort": 7}]})"})
    Modernize("kubeflow.org/v1alpha1", spec);
}

std::string Problem(const char* settings) {
  const auto problems = CheckTFJobSettings(Json::parse(settings), "tfjob");
  return problems.empty() ? "" : problems.front().field + ": " + problems.front().message;
}

TEST_CASE("settings: profiles, what overrides them, and what is wrong") {
  const auto text = [](const char* settings) {
    CHECK(Problem(settings).empty());
    return TFJobSettingsText(DecodeTFJobSettings(Json::parse(settings)));
  };
  CHECK(text("{}").empty());
  CHECK(text(R"({"profile": "v1.9"})").empty());
  CHECK(text(R"({"profile": "v1.9.4"})") == "cleanPodPolicyAtLimits: true");
  CHECK(text(R"({"profile": "v1.6"})") == "sparseKey: sparseCluster, cleanPodPolicyAtLimits: true");
  CHECK(text(R"({"profile": "v0.5", "retryRule": "ge128", "customClusterDomain": "cluster.local"})") ==
        "evaluatorInCluster: false, singleReplicaConfig: true, sparseKey: sparseCluster, "
        "cleanPodPolicyDefault: Running, cleanPodPolicyAtLimits: true, customClusterDomain: cluster.local");
  CHECK(Problem(R"({"sparseKey": "clutser"})") ==
        "tfjob.sparseKey: Unsupported value: \"clutser\" (did you mean cluster?): supported values: cluster, "
        "sparseCluster");
  CHECK(Problem(R"({"profile": "v1.12"})").starts_with("tfjob.profile: Unsupported value: \"v1.12\""));
  CHECK(Problem(R"({"evaluatorInClutser": true})") ==
        "tfjob.evaluatorInClutser: unknown field (did you mean evaluatorInCluster?)");
  CHECK(Problem(R"({"retryRule": true})") == "tfjob.retryRule: must be a string (got true)");
  CHECK(Problem("7") == "tfjob: must be a mapping (got 7)");
  CHECK(Problem(R"({"customClusterDomain": "no domain"})").starts_with("tfjob.customClusterDomain: Invalid"));
  CHECK(Problem("null").empty());
}

}  // namespace
}  // namespace tfemu::api
