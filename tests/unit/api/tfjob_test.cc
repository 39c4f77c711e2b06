// TFJobs: TF_CONFIG, replica pods and services, refusals.
#include "emulator/api/tfjob.h"

#include "emulator/api/tfjob_warnings.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"

namespace tfemu::api {
namespace {

Json Template(const char* name = "tensorflow") {
  return Json::parse(std::string(R"({"spec": {"containers": [{"name": ")") + name +
                     R"(", "image": "i:1"}]}})");
}

TFJob Job(const std::vector<std::pair<std::string, int>>& types, bool dynamic = false) {
  Json specs = Json::object();
  for (const auto& [type, replicas] : types)
    specs[type] = Json::object({{"replicas", replicas}, {"template", Template()}});
  return DecodeTFJob(Object(
      Json::object({{"apiVersion", "kubeflow.org/v1"},
                    {"kind", "TFJob"},
                    {"metadata", Json::object({{"name", "j"}, {"namespace", "ns"}, {"uid", "u"}})},
                    {"spec", Json::object({{"enableDynamicWorker", dynamic}, {"tfReplicaSpecs", specs}})}})));
}

TEST_CASE("TF_CONFIG has the operator's bytes") {
  const TFJob dense = Job({{"PS", 1}, {"WORKER", 2}, {"master", 1}, {"Evaluator", 1}});
  CHECK(
      TFConfig(dense, "Worker", 1) ==
      R"({"cluster":{"evaluator":["j-evaluator-0.ns.svc:2222"],"master":["j-master-0.ns.svc:2222"],"ps":["j-ps-0.ns.svc:2222"],)"
      R"("worker":["j-worker-0.ns.svc:2222","j-worker-1.ns.svc:2222"]},"task":{"type":"worker","index":1},"environment":"cloud"})");
  CHECK_FALSE(TFConfig(Job({{"Worker", 1}}), "Worker", 0).has_value());
  CHECK_FALSE(TFConfig(Job({{"PS", 1}}), "PS", 0).has_value());
}

TEST_CASE("dynamic workers get the sparse form") {
  const TFJob job = Job({{"PS", 2}, {"Worker", 2}, {"Chief", 1}}, true);
  CHECK(
      TFConfig(job, "Worker", 1) ==
      R"({"cluster":{"worker":{"1":"j-worker-1.ns.svc:2222"},"ps":["j-ps-0.ns.svc:2222","j-ps-1.ns.svc:2222"]},"task":{"type":"worker","index":1}})");
  CHECK(TFConfig(job, "PS", 1) ==
        R"({"cluster":{"worker":{},"ps":["j-ps-1.ns.svc:2222"]},"task":{"type":"ps","index":1}})");
  CHECK(TFConfig(job, "Chief", 0) ==
        R"({"cluster":{"worker":{},"ps":[]},"task":{"type":"chief","index":0}})");
  CHECK(
      TFConfig(Job({{"Worker", 2}}, true), "Worker", 0) ==
      R"({"cluster":{"worker":{"0":"j-worker-0.ns.svc:2222"},"ps":null},"task":{"type":"worker","index":0}})");
}

TEST_CASE("the master role") {
  const auto role = [](const TFJob& job, const char* type, int index) {
    return Text(MakeReplicaPod(job, type, index)["metadata"]["labels"], "training.kubeflow.org/job-role");
  };
  CHECK(role(Job({{"Worker", 2}}), "Worker", 0) == "master");
  CHECK(role(Job({{"Worker", 2}}), "Worker", 1) == "");
  CHECK(role(Job({{"Chief", 1}, {"Worker", 1}}), "Worker", 0) == "");
  CHECK(role(Job({{"Master", 1}, {"Worker", 1}}), "Master", 0) == "master");
}

TEST_CASE("validation speaks with the webhook's words") {
  const auto messages = [](const char* specs, const char* name = "j") {
    const Json job =
        Json::parse(std::string(R"({"metadata": {"name": ")") + name + R"("}, "spec": )" + specs + "}");
    auto found = ValidateTFJob(job, nullptr);
    if (!found.empty()) return found;
    const auto denied = AdmitTFJob(job, nullptr);
    return denied ? denied->fields : found;
  };
  const std::string path = "spec.tfReplicaSpecs.Worker";
  CHECK(messages("{}") == std::vector<FieldMessage>{{"spec.tfReplicaSpecs", "Required value"}});
  CHECK(messages("null") ==
        std::vector<FieldMessage>{{"spec.tfReplicaSpecs", "Required value: must be required"}});
  CHECK(messages(R"({"tfReplicaSpecs": {"Worker": {"template": {"spec": {"containers": []}}}}})") ==
        std::vector<FieldMessage>{{path + ".template.spec.containers", "Required value: must be specified"},
                                  {path + ".template.spec.containers",
                                   "Required value: must have at least one container with name tensorflow"}});
  CHECK(messages(R"({"tfReplicaSpecs": {}})", "1inv")[0].message.find("should match: a DNS-1035 label") !=
        std::string::npos);
  const auto both = messages(
      R"({"tfReplicaSpecs": {"Chief": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "i"}]}}},
                                  "Master": {"template": {"spec": {"containers": [{"name": "tensorflow", "image": "i"}]}}}}})");
  REQUIRE(both.size() == 1);
  CHECK(both[0].message == "Forbidden: must not have more than 1 Chief or Master role");
}

TEST_CASE("a port of that name in the manifest is the TensorFlow port") {
  Json specs = Json::object({{"Worker", Json::object({{"replicas", 2}, {"template", Template()}})}});
  specs["Worker"]["template"]["spec"]["containers"][0]["ports"] =
      Json::parse(R"([{"name": "tfjob-port", "containerPort": 3333}])");
  const TFJob job =
      DecodeTFJob(Object(Json::object({{"kind", "TFJob"},
                                       {"metadata", Json::object({{"name", "j"}, {"namespace", "ns"}})},
                                       {"spec", Json::object({{"tfReplicaSpecs", specs}})}})));
  CHECK(TFConfig(job, "Worker", 0)->find("j-worker-0.ns.svc:3333") != std::string::npos);
  CHECK(MakeReplicaService(job, "Worker", 0)["spec"]["ports"] ==
        Json::parse(R"([{"name": "tfjob-port", "port": 3333}])"));
}

TEST_CASE("what the operator takes and never runs is said") {
  const auto warn = [](const std::string& name, const char* spec) {
    const auto job = nlohmann::json{
        {"kind", "TFJob"}, {"metadata", {{"name", name}}}, {"spec", nlohmann::json::parse(spec)}};
    const auto warnings = TFJobWarnings(job);
    return warnings.empty() ? std::string() : warnings.front().field;
  };
  CHECK(warn("j", R"({"tfReplicaSpecs": {"Worker": {}, "PS": {"restartPolicy": "ExitCode"}}})").empty());
  CHECK(warn("j", R"({"tfReplicaSpecs": {}})") == "spec.tfReplicaSpecs");
  CHECK(warn("j", R"({"tfReplicaSpecs": {"Foo": {}}})") == "spec.tfReplicaSpecs.Foo");
  CHECK(warn("j", R"({"tfReplicaSpecs": {"WORKER": {}, "worker": {}}})") == "spec.tfReplicaSpecs.worker");
  CHECK(warn("j", R"({"tfReplicaSpecs": {"Chief": {"replicas": 2}}})") ==
        "spec.tfReplicaSpecs.Chief.replicas");
  CHECK(warn("j", R"({"tfReplicaSpecs": {"Worker": {"restartPolicy": "Sometimes"}}})") ==
        "spec.tfReplicaSpecs.Worker.restartPolicy");
  CHECK(warn("j", R"({"runPolicy": {"cleanPodPolicy": "Some"}, "tfReplicaSpecs": {"Worker": {}}})") ==
        "spec.runPolicy.cleanPodPolicy");
  CHECK(warn("j", R"({"tfReplicaSpecs": {"Worker": {"replicas": -1}}})") ==
        "spec.tfReplicaSpecs.Worker.replicas");
  CHECK(warn("j", R"({"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}, "tfReplicaSpecs": {}})") ==
        "spec.runPolicy.managedBy");
  CHECK(
      warn("j",
           R"({"runPolicy": {"managedBy": "kubeflow.org/training-operator"}, "tfReplicaSpecs": {"PS": {}}})")
          .empty());
  CHECK(warn(std::string(56, 'x'), R"({"tfReplicaSpecs": {"Worker": {}}})") == "metadata.name");
}

}  // namespace
}  // namespace tfemu::api
