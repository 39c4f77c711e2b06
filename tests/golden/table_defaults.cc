// 8.C: defaults, spelling of types, refusals.
#include <doctest/doctest.h>

#include <algorithm>

#include "emulator/base/strings.h"
#include "emulator/codec/yaml.h"
#include "tests/golden/table_job.h"

namespace tfemu::test {
namespace {

using api::Json;

Json FromYaml(const std::string& text) {
  auto document = codec::ParseYamlDocument(text, "cell");
  REQUIRE_MESSAGE(document.ok(), text);
  return document.value().value;
}

Json WithTypes(const std::string& keys) {
  Json doc = JobDocument("w1");
  const Json replica = doc["spec"]["tfReplicaSpecs"]["Worker"];
  doc["spec"]["tfReplicaSpecs"] = Json::object();
  for (const std::string& key : Split(keys, ' ')) doc["spec"]["tfReplicaSpecs"][key] = replica;
  return doc;
}

void CheckTypeNames(const Row& row) {
  Row types;
  for (const auto& [type, spec] : api::DecodeTFJob(api::Object(WithTypes(row[0]))).replica_specs)
    types.push_back(type);
  CHECK(Join(types, " ") == row[1]);
}
const TableRunner kTypeNames("type_names.txt", 2, CheckTypeNames);

void CheckDefaults(const Row& row) {
  Json doc = JobDocument("w1");
  Json& spec = doc["spec"];
  spec["tfReplicaSpecs"]["Worker"].erase("replicas");
  spec["tfReplicaSpecs"]["Worker"].merge_patch(FromYaml(row[1]));
  for (Json& container : spec["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"])
    container.merge_patch(Json{{"name", "tensorflow"}, {"image", "i"}});
  spec["runPolicy"] = FromYaml(row[2]);
  const api::TFJob job = api::DecodeTFJob(api::Object(std::move(doc)));
  const api::ReplicaSpec& worker = job.replica_specs.at("Worker");
  CHECK(std::to_string(worker.replicas) == row[4]);
  CHECK(api::MakeReplicaPod(job, "Worker", 0)["spec"]["restartPolicy"] == row[5]);
  const Json pod = api::MakeReplicaPod(job, "Worker", 0);
  CHECK(pod["spec"]["containers"][0]["ports"] == FromYaml(row[6]));
  const auto policy = job.run_policy.clean_pod_policy.value_or(Settings(row[0]).clean_pod_policy_default);
  const char* words[] = {"None", "Running", "All"};
  CHECK(words[static_cast<int>(policy)] == row[3]);
  CHECK(job.success_policy.empty());
}
const TableRunner kDefaults("defaults.txt", 7, CheckDefaults);

void CheckChiefOrMaster(const Row& row) {
  CHECK(api::DecodeTFJob(api::Object(WithTypes(row[0]))).has_chief() == (row[1] == "true"));
}
const TableRunner kChiefOrMaster("chief_or_master.txt", 2, CheckChiefOrMaster);

// What the API server, and then the webhook, say against the document; "-" for nothing.
void CheckValidation(const Row& row) {
  Json doc = JobDocument("w2");
  doc.merge_patch(FromYaml(row[1]));
  Json previous = JobDocument("w2");
  if (row[2] != "-") previous.merge_patch(FromYaml(row[2]));
  const Json* before = row[2] == "-" ? nullptr : &previous;
  Row words;
  for (const auto& m : api::ValidateTFJob(doc, before)) words.push_back(m.field + ": " + m.message);
  if (words.empty())
    if (const auto denied = api::AdmitTFJob(doc, before)) {
      const std::string intro =
          "admission webhook \"validator.tfjob.training-operator.kubeflow.org\" denied the request: ";
      REQUIRE(denied->message.starts_with(intro));
      words.push_back(denied->message.substr(intro.size()));
    }
  CHECK((words.empty() ? "-" : Join(words, "; ")) == row[3]);
}
const TableRunner kValidation("validation.txt", 4, CheckValidation);

void CheckManagedBy(const Row& row) {
  Json doc = JobDocument("w1");
  if (row[0] != "-") doc["spec"]["runPolicy"]["managedBy"] = row[0] == "\"\"" ? "" : row[0];
  const api::TFJob job = api::DecodeTFJob(api::Object(std::move(doc)));
  CHECK(PassOver(job, {}).actions.empty() == (row[1] == "skipped"));
}
const TableRunner kManagedBy("managed_by.txt", 2, CheckManagedBy);

}  // namespace
}  // namespace tfemu::test
