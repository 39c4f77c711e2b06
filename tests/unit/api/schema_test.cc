// The field tables, and the walk that checks documents against them.
#include "emulator/api/schema.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/scheme.h"

namespace tfemu::api {
namespace {

using nlohmann::json;

FieldFindings Check(const char* kind, const char* text) {
  return CheckFields(json::parse(text), *FindKind(kind)->schema);
}

TEST_CASE("a wrong type is an error with its path and what was found") {
  const auto findings = Check(
      "Pod",
      R"({"spec": {"containers": [{"name": 7, "command": "sh", "resources": {"limits": {"cpu": "lots"}}}]}})");
  REQUIRE(findings.errors.size() == 3);
  CHECK(findings.errors[0] == FieldMessage{"spec.containers[0].command", "must be a list (got \"sh\")"});
  CHECK(findings.errors[1] == FieldMessage{"spec.containers[0].name", "must be a string (got 7)"});
  CHECK(findings.errors[2].field == "spec.containers[0].resources.limits.cpu");
}

TEST_CASE("an unknown field is a warning that knows the nearest name") {
  const auto findings = Check(
      "TFJob",
      R"({"spec": {"tfReplicaSpecs": {"Worker": {"replica": 2, "template": {"spec": {"imagePullSecret": 1}}}}}})");
  REQUIRE(findings.warnings.size() == 2);
  CHECK(findings.warnings[0] ==
        FieldMessage{"spec.tfReplicaSpecs.Worker.replica", "unknown field (did you mean replicas?)"});
  CHECK(findings.warnings[1].message == "unknown field (did you mean imagePullSecrets?)");
}

TEST_CASE("a field that is not honoured warns when it is set, not when it is empty") {
  CHECK(Check("Pod", R"({"spec": {"hostNetwork": true}})").warnings.size() == 1);
  CHECK(Check("Pod", R"({"spec": {"securityContext": {}, "affinity": null}})").warnings.empty());
}

void EveryNote(const Schema& schema, std::set<const Schema*>& seen) {
  if (!seen.insert(&schema).second) return;
  for (const Field& field : schema.fields) {
    INFO(field.name);
    CHECK((field.fidelity == Fidelity::kHonoured) == field.note.empty());
    CHECK((field.type == Type::kObject) == (field.of != nullptr));
    if (field.of != nullptr) EveryNote(*field.of, seen);
  }
}

TEST_CASE("every field that is not simply honoured says what becomes of it") {
  std::set<const Schema*> seen;
  for (const Kind& kind : Kinds()) EveryNote(*kind.schema, seen);
  CHECK(seen.size() > 40);
}

}  // namespace
}  // namespace tfemu::api
