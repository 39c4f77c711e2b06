// 8.A: when TF_CONFIG is set, and its bytes.
#include <doctest/doctest.h>

#include "emulator/base/strings.h"
#include "tests/golden/table_job.h"

namespace tfemu::test {
namespace {

void CheckConfig(const Row& row) {
  api::Json doc = JobDocument(row[2]);
  const Row name = Split(row[1], '/');
  doc["metadata"]["namespace"] = name.at(0);
  doc["metadata"]["name"] = name.at(1);
  const api::TFJob job = api::DecodeTFJob(api::Object(std::move(doc)));
  const Row task = Split(row[3], ' ');
  const std::string type = api::CanonicalReplicaType(task.at(0));
  const int index = static_cast<int>(*ParseInt(task.at(1)));
  const api::TFJobSettings settings = Settings(row[0]);
  CHECK(api::TFConfig(job, type, index, settings).value_or("-") == row[4]);
  const api::Json env = api::MakeReplicaPod(job, type, index, settings)["spec"]["containers"][0].value(
      "env", api::Json::array());
  CHECK(env.size() == (row[4] == "-" ? 0 : 1));
}
const TableRunner kConfig("tf_config.txt", 5, CheckConfig);

void CheckDistributed(const Row& row) {
  const api::TFJob job = Job(row[0]);
  CHECK(api::TFConfig(job, job.replica_specs.begin()->first, 0).has_value() == (row[1] == "true"));
}
const TableRunner kDistributed("distributed.txt", 2, CheckDistributed);

}  // namespace
}  // namespace tfemu::test
