// What a container takes from around it: variables, expansions, downward files.
#include "emulator/manager/pod_values.h"

#include <doctest/doctest.h>

namespace tfemu::manager {
namespace {

using Lines = std::vector<std::string>;

struct Fixture {
  Fixture() {
    pod.meta.name = "p";
    pod.meta.ns = "team";
    pod.meta.labels = {{"app", "web"}};
    pod.spec.node_name = "node-1";
    pod.spec.containers = {api::Container{.name = "c", .limits = {{"memory", {2'147'483'648'000}}}}};
  }
  api::EnvVar Var(const std::string& name, const std::string& value,
                  api::EnvVar::Source source = api::EnvVar::Source::kValue) {
    return {name, value, source};
  }
  Result<Lines> Env(const Data& image = {}) {
    return Environment(context, pod.spec.containers[0], image, lookup);
  }

  api::Pod pod;
  DownwardContext context{pod, "10.244.0.2", "10.244.0.1", {{"cpu", {8000}}}};
  Lookup lookup{[](const std::string& name) -> std::optional<Data> {
                  if (name != "cfg") return std::nullopt;
                  return Data{{"a", "1"}, {"b", "2"}};
                },
                [](const std::string&) -> std::optional<Data> { return std::nullopt; }};
};

TEST_CASE_FIXTURE(Fixture, "later definitions win, and $(VAR) sees only what came before") {
  pod.spec.containers[0].env_from = {{false, "cfg", "X_", false}};
  pod.spec.containers[0].env = {Var("FIRST", "$(LATER) $(X_a) $$(X_a) $x $("), Var("LATER", "l"),
                                Var("PATH", "/mine:$(PATH)")};
  CHECK(Env({{"PATH", "/bin"}, {"LANG", "C"}}).value() ==
        Lines{"LANG=C", "PATH=/mine:/bin", "X_a=1", "X_b=2", "FIRST=$(LATER) 1 $(X_a) $x $(", "LATER=l"});
}

TEST_CASE_FIXTURE(Fixture, "the downward API") {
  pod.spec.containers[0].env = {Var("NS", "metadata.namespace", api::EnvVar::Source::kField),
                                Var("IP", "status.podIP", api::EnvVar::Source::kField),
                                Var("APP", "metadata.labels['app']", api::EnvVar::Source::kField),
                                Var("NODE", "spec.nodeName", api::EnvVar::Source::kField)};
  CHECK(Env().value() == Lines{"NS=team", "IP=10.244.0.2", "APP=web", "NODE=node-1"});
  CHECK(ResourceValue(context, {"", "limits.memory", {int64_t{1} << 20 << 10}}, "c") == "2000");
  CHECK(ResourceValue(context, {"", "limits.cpu", {1000}}, "c") == "8");  // no limit: the node's
  CHECK_FALSE(ResourceValue(context, {"", "limits.gpu", {1000}}, "c").has_value());
  CHECK_FALSE(FieldValue(context, "spec.containers").has_value());
  pod.spec.init_containers = {api::Container{.name = "i", .limits = {{"cpu", {1500}}}}};
  CHECK(ResourceValue(context, {"", "limits.cpu", {1000}}, "i") == "2");  // rounded up
  CHECK(ResourceValue(context, {"i", "limits.cpu", {1}}, "c") == "1500");
}

TEST_CASE_FIXTURE(Fixture, "every field that a fieldRef may name") {
  pod.meta.uid = "u-1";
  pod.meta.labels["b"] = "x";
  pod.meta.annotations = {{"note", "two \"quoted\"\nlines"}};
  pod.spec.service_account_name = "builder";
  const std::pair<const char*, const char*> kFields[] = {
      {"metadata.name", "p"},
      {"metadata.namespace", "team"},
      {"metadata.uid", "u-1"},
      {"metadata.labels", "app=\"web\"\nb=\"x\""},
      {"metadata.annotations", "note=\"two \\\"quoted\\\"\\nlines\""},
      {"metadata.labels['b']", "x"},
      {"metadata.annotations['note']", "two \"quoted\"\nlines"},
      {"spec.nodeName", "node-1"},
      {"spec.serviceAccountName", "builder"},
      {"status.hostIP", "10.244.0.1"},
      {"status.hostIPs", "10.244.0.1"},
      {"status.podIP", "10.244.0.2"},
      {"status.podIPs", "10.244.0.2"}};
  for (const auto& [path, value] : kFields) CHECK_MESSAGE(FieldValue(context, path) == value, path);
}

TEST_CASE_FIXTURE(Fixture, "a missing ConfigMap, Secret or key is named, unless it is optional") {
  api::EnvVar var = Var("V", "", api::EnvVar::Source::kConfigMap);
  var.key_ref = {"cfg", "zzz", false};
  pod.spec.containers[0].env = {var};
  CHECK(Env().error().message == "couldn't find key zzz in ConfigMap \"cfg\"");
  var.source = api::EnvVar::Source::kSecret;
  pod.spec.containers[0].env = {var};
  CHECK(Env().error().message == "secret \"cfg\" not found");
  var.key_ref.optional = true;
  pod.spec.containers[0].env = {var};
  CHECK(Env().value().empty());
}

TEST_CASE_FIXTURE(Fixture, "the files of a volume, whole or item by item") {
  api::PodVolume volume;
  volume.type = api::PodVolume::Type::kFiles;
  volume.sources = {{api::FileSource::Type::kConfigMap, "cfg", false, {{"a", "sub/a.txt", 0600, {}}}},
                    {api::FileSource::Type::kDownward, "", false, {{"metadata.labels", "labels", {}, {}}}}};
  const auto files = VolumeFiles(context, volume, lookup);
  REQUIRE(files.ok());
  REQUIRE(files.value().size() == 2);
  CHECK(files.value()[0].path == "sub/a.txt");
  CHECK(files.value()[0].mode == 0600);
  CHECK(files.value()[1].content == "app=\"web\"");
  volume.sources[0].items[0].key = "none";
  CHECK(VolumeFiles(context, volume, lookup).error().message == "references non-existent key: none");
}

TEST_CASE("a sub path with a variable that is not there is an error") {
  CHECK(ExpandSubPath("logs/$(POD)/$$(POD)", {{"POD", "a"}}).value() == "logs/a/$(POD)");
  CHECK(ExpandSubPath("$(NOPE)", {}).error().message == "missing value for \"NOPE\"");
  CHECK(ExpandSubPath("plain", {}).value() == "plain");
}

}  // namespace
}  // namespace tfemu::manager
