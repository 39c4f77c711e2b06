// The door to the store: create, apply, patch, delete, scale, and every refusal.
#include "emulator/manager/registry.h"

#include <doctest/doctest.h>

#include "emulator/codec/yaml.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using manager::Written;

api::Json Doc(const std::string& yaml) { return codec::ParseYaml(yaml, "f.yaml").value().at(0).value; }

std::string Map(const std::string& name, const std::string& data, const std::string& more = "") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + more + "}\ndata: {" + data + "}\n";
}

TEST_CASE("apply creates, changes, and leaves alone what is as it should be") {
  World world;
  auto& registry = world.cluster->registry();
  CHECK(registry.Apply(Doc(Map("a", "x: \"1\", y: \"2\"")), {}).value().outcome ==
        Written::Outcome::kCreated);
  CHECK(registry.Apply(Doc(Map("a", "x: \"1\", y: \"2\"")), {}).value().outcome ==
        Written::Outcome::kUnchanged);
  // Somebody else adds a key; what the manifest drops goes, what it never had stays.
  const auto live = world.Get("ConfigMap", "a");
  REQUIRE(registry.Patch(live.key(), live.uid(), "", Doc("data: {z: \"3\"}")).ok());
  const auto changed = registry.Apply(Doc(Map("a", "x: \"9\"")), {});
  CHECK(changed.value().outcome == Written::Outcome::kConfigured);
  CHECK(world.Get("ConfigMap", "a").doc()["data"] == Doc("{x: \"9\", z: \"3\"}"));
}

TEST_CASE("unknown fields survive, are warned of, and are an error when strict") {
  World world;
  const std::string yaml =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {hostNetwork: true, novel: {a: 1}, containers: "
      "[{name: c, image: \"i:1\"}]}\n";
  auto& registry = world.cluster->registry();
  CHECK(registry.Create(Doc(yaml), {.strict = true}).error().fields.size() == 2);
  CHECK_FALSE(world.Exists("Pod", "p"));
  const auto written = registry.Create(Doc(yaml), {});
  REQUIRE(written.ok());
  CHECK(written.value().warnings.size() == 2);
  CHECK(world.Get("Pod", "p").doc()["spec"]["novel"]["a"] == 1);
}

TEST_CASE("dry run tells the outcome and writes nothing") {
  World world;
  CHECK(world.cluster->registry().Create(Doc(Map("a", "")), {.dry_run = true}).ok());
  CHECK_FALSE(world.Exists("ConfigMap", "a"));
}

TEST_CASE("refusals") {
  World world;
  auto& registry = world.cluster->registry();
  const auto reason = [&](const std::string& yaml) { return registry.Create(Doc(yaml), {}).error(); };
  CHECK(reason("kind: Pod").fields[0].field == "apiVersion");
  CHECK(reason("apiVersion: v1\nkind: Podd\nmetadata: {name: a}").hint.find("did you mean kind: Pod") == 0);
  CHECK(reason(Map("a", "", ", namespace: nowhere")).reason == Reason::kNotFound);
  CHECK(
      reason("apiVersion: v1\nkind: Namespace\nmetadata: {name: team, namespace: default}").fields[0].field ==
      "metadata.namespace");
  CHECK(reason("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: "
               "\"x/unknown:1\"}]}")
            .fields[0]
            .field == "spec.containers[0].image");
  REQUIRE(registry.Create(Doc(Map("a", "")), {}).ok());
  CHECK(reason(Map("a", "")).reason == Reason::kAlreadyExists);
}

std::string TFJob(const std::string& version, const std::string& policy, const std::string& container) {
  return "apiVersion: kubeflow.org/" + version + "\nkind: TFJob\nmetadata: {name: j}\nspec:\n  " + policy +
         "\n  tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: " + container +
         ", image: \"i:1\"}]}}}}\n";
}

TEST_CASE("a TFJob of an older layout is stored as today's, told at the user's fields, refused when strict") {
  World world;
  auto& registry = world.cluster->registry();
  const auto old = Doc(TFJob("v1beta2", "cleanPodPolicy: All", "tensorflow"));
  const auto strict = registry.Apply(old, {.strict = true});
  REQUIRE(!strict.ok());
  CHECK(strict.error().fields.at(1).field == "spec.cleanPodPolicy");
  const auto written = registry.Apply(old, {});
  REQUIRE(written.ok());
  CHECK(written.value().warnings.at(0).field == "apiVersion");
  CHECK(written.value().warnings.at(1).field == "spec.cleanPodPolicy");
  const auto stored = world.Get("TFJob", "j").doc();
  CHECK(stored["apiVersion"] == "kubeflow.org/v1");
  CHECK(stored["spec"]["runPolicy"]["cleanPodPolicy"] == "All");
  CHECK(registry.Apply(old, {}).value().outcome == Written::Outcome::kUnchanged);
  // A finding about a field that has moved stands where the user wrote it.
  const auto odd =
      registry.Apply(Doc(TFJob("v1beta2", "cleanPodPolicy: Often", "tensorflow")), {.dry_run = true});
  CHECK(odd.value().warnings.at(2).field == "spec.cleanPodPolicy");
  CHECK(!registry.Apply(Doc(TFJob("v2", "", "tensorflow")), {}).ok());
}

TEST_CASE("an update that would break a running job is refused and changes nothing") {
  World world;
  auto& registry = world.cluster->registry();
  REQUIRE(registry.Apply(Doc(TFJob("v1", "", "tensorflow")), {}).ok());
  world.Advance(std::chrono::seconds(5));
  const auto job = world.Get("TFJob", "j"), pod = world.Get("Pod", "j-worker-0");
  const std::string denied =
      "admission webhook \"validator.tfjob.training-operator.kubeflow.org\" denied the request: ";
  for (const auto& [update, words] :
       {std::pair{TFJob("v1", "", "main"),
                  denied + "spec.tfReplicaSpecs[Worker].template.spec.containers: Required "
                           "value: must have at least one container with name tensorflow"},
        {TFJob("v1", "runPolicy: {managedBy: kueue.x-k8s.io/multikueue}", "tensorflow"),
         denied +
             "spec.runPolicy.managedBy: Invalid value: \"kueue.x-k8s.io/multikueue\": field is immutable"}}) {
    const auto refused = registry.Apply(Doc(update), {});
    REQUIRE(!refused.ok());
    CHECK(refused.error().reason == Reason::kForbidden);
    CHECK(refused.error().message == words);
  }
  world.Advance(std::chrono::seconds(5));
  CHECK(world.Get("TFJob", "j").doc() == job.doc());
  CHECK(world.Get("Pod", "j-worker-0").doc() == pod.doc());
}

TEST_CASE("generated names, generations and scaling") {
  World world;
  auto& registry = world.cluster->registry();
  const auto one = registry.Create(Doc("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: c-}"), {});
  CHECK(one.value().object.key().name.size() == 7);
  world.Apply(
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {selector: {matchLabels: {a: b}}, "
      "template: {metadata: {labels: {a: b}},\n"
      "  spec: {containers: [{name: c, image: \"i:1\"}]}}}\n");
  const api::ObjectKey key{"Deployment", "default", "w"};
  CHECK(registry.Scale(key, "", 3).value().doc()["metadata"]["generation"] == 2);
  CHECK(registry.Scale(key, "", -1).error().reason == Reason::kInvalid);
  CHECK(registry.Scale({"ConfigMap", "default", one.value().object.key().name}, "", 1).error().reason ==
        Reason::kBadRequest);
  world.Advance(std::chrono::seconds(1));
  CHECK(world.List("Pod").size() == 3);
}

constexpr const char* kDeployment =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {selector: {matchLabels: {a: b}}, "
    "template: {metadata: {labels: {a: b}},\n"
    "  spec: {containers: [{name: c, image: \"i:1\"}]}}}\n";

TEST_CASE("a foreground delete waits for the dependents, and theirs") {
  World world;
  world.Apply(kDeployment);
  world.Advance(std::chrono::seconds(1));
  REQUIRE(world.List("Pod").size() == 1);
  REQUIRE(world.cluster->registry()
              .Delete({"Deployment", "default", "d"}, {.propagation = manager::Propagation::kForeground})
              .ok());
  std::vector<std::string> order;
  const auto watch =
      world.store.Watch({}, world.store.List({}).revision, [&](const store::WatchEvent& event) {
        if (event.type == store::WatchType::kDeleted) order.push_back(event.object.key().kind);
      });
  world.Advance(std::chrono::seconds(60));
  CHECK(order == std::vector<std::string>{"Pod", "ReplicaSet", "Deployment"});
  world.store.Unwatch(watch.value());
}

TEST_CASE("what lost its owner while nobody looked goes at the start") {
  World world;
  world.Apply(kDeployment);
  world.Advance(std::chrono::seconds(1));
  const auto set = world.List("ReplicaSet").at(0);
  world.cluster.reset();
  REQUIRE(world.store.Delete(set.key(), set.uid()).ok());
  REQUIRE(world.store.Delete({"Deployment", "default", "d"}, "").ok());
  world.Restart();
  world.Advance(std::chrono::seconds(60));
  CHECK(world.List("Pod").empty());
}

TEST_CASE("finalizers of others stay on") {
  World world;
  world.Apply(
      "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v, finalizers: [example.com/mine]}\n"
      "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteMany], hostPath: {path: /tmp}}\n");
  REQUIRE(world.cluster->registry().Delete({"PersistentVolume", "", "v"}, {}).ok());
  world.Advance(std::chrono::seconds(1));
  REQUIRE(world.Exists("PersistentVolume", "v", ""));
  CHECK(api::DecodeMeta(world.Get("PersistentVolume", "v", "")).finalizers ==
        std::vector<std::string>{"example.com/mine"});
}

TEST_CASE("an orphaning delete leaves the dependents") {
  World world;
  world.Apply(
      "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r}\nspec: {selector: {matchLabels: {a: b}}, "
      "template: {metadata: {labels: {a: b}},\n"
      "  spec: {containers: [{name: c, image: \"i:1\"}]}}}\n");
  world.Advance(std::chrono::seconds(1));
  REQUIRE(world.cluster->registry()
              .Delete({"ReplicaSet", "default", "r"}, {.propagation = manager::Propagation::kOrphan})
              .ok());
  world.Advance(std::chrono::seconds(60));
  CHECK(world.List("Pod").size() == 1);
}

}  // namespace
}  // namespace tfemu::test
