// 8.B: names, labels, owners and services of replicas.
#include <doctest/doctest.h>

#include <numeric>

#include "emulator/api/validation.h"
#include "emulator/base/strings.h"
#include "tests/golden/table_job.h"

namespace tfemu::test {
namespace {

using api::Json;

api::TFJob Named(const std::string& name) {
  Json doc = JobDocument("w2");
  doc["metadata"]["name"] = name;
  return api::DecodeTFJob(api::Object(std::move(doc)));
}

// Every member of `expected` is in `actual`, as it stands there.
void CheckHas(const Json& actual, const Json& expected) {
  for (const auto& [key, value] : expected.items()) {
    INFO(key);
    REQUIRE(actual.contains(key));
    CHECK(actual[key] == value);
  }
}

void CheckName(const Row& row) {
  CHECK(api::ReplicaName(Named(row[0]), row[1], static_cast<int>(*ParseInt(row[2]))) == row[3]);
}
const TableRunner kNames("names.txt", 4, CheckName);

void CheckLabels(const Row& row) {
  CHECK(Json(api::ReplicaLabels(Named(row[0]), "Worker", 0)) == Json::parse(row[1]));
}
const TableRunner kLabels("labels.txt", 2, CheckLabels);

void CheckLabelValues(const Row& row) {
  const api::Labels labels = Json::parse(row[0]).get<api::Labels>();
  const auto index = api::ReplicaIndexOf(labels);
  CHECK((index ? std::to_string(*index) : "-") == row[1]);
  CHECK(api::ReplicaTypeOf(labels).value_or("-") == row[2]);
}
const TableRunner kLabelValues("label_values.txt", 3, CheckLabelValues);

void CheckRole(const Row& row) {
  const Row task = Split(row[1], ' ');
  const Json pod = api::MakeReplicaPod(Job(row[0]), api::CanonicalReplicaType(task.at(0)),
                                       static_cast<int>(*ParseInt(task.at(1))));
  CHECK(pod["metadata"]["labels"].value("training.kubeflow.org/job-role", "-") == row[2]);
}
const TableRunner kRoles("master_role.txt", 3, CheckRole);

void CheckTemplateMeta(const Row& row) {
  Json doc = JobDocument("w1");
  doc["spec"]["tfReplicaSpecs"]["Worker"]["template"]["metadata"] = Json::parse(row[0]);
  const Json meta =
      api::MakeReplicaPod(api::DecodeTFJob(api::Object(std::move(doc))), "Worker", 0)["metadata"];
  for (const char* part : {"labels", "annotations"})
    if (const Json expected = Json::parse(row[1]); expected.contains(part))
      CheckHas(meta[part], expected[part]);
}
const TableRunner kTemplateMeta("template_meta.txt", 2, CheckTemplateMeta);

void CheckOwner(const Row& row) {
  const Json pod = api::MakeReplicaPod(Job(row[0]), "Worker", 0);
  const Json service = api::MakeReplicaService(Job(row[0]), "Worker", 0);
  CHECK(pod["metadata"]["ownerReferences"] == Json::parse("[" + row[1] + "]"));
  CHECK(service["metadata"]["ownerReferences"] == Json::parse("[" + row[1] + "]"));
}
const TableRunner kOwners("owners.txt", 2, CheckOwner);

void CheckOwnerRefused(const Row& row) {
  Json doc = {{"metadata", {{"name", "x"}, {"ownerReferences", {Json::parse(row[0])}}}}};
  api::Messages messages;
  api::CheckMeta(doc, messages);
  Row words;
  for (const auto& message : messages) words.push_back(message.field + ": " + message.message);
  CHECK((words.empty() ? "-" : Join(words, "; ")) == row[1]);
}
const TableRunner kOwnersRefused("owners_refused.txt", 2, CheckOwnerRefused);

void CheckService(const Row& row) {
  Json doc = JobDocument("w1");
  Json& container = doc["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0];
  if (row[0] != "-") container["ports"] = Json::parse(row[0]);
  const Json service = api::MakeReplicaService(api::DecodeTFJob(api::Object(std::move(doc))), "Worker", 0);
  CHECK(service["metadata"]["name"] == "j-worker-0");
  CHECK(service["spec"]["clusterIP"] == "None");
  CHECK(service["spec"]["selector"] == service["metadata"]["labels"]);
  CHECK(service["spec"]["ports"] == Json::parse(row[1]));
}
const TableRunner kServices("services.txt", 2, CheckService);

}  // namespace
}  // namespace tfemu::test
