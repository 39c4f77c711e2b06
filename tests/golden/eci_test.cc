// Every annotation and every instance type of ECI, one case each, and the page that lists them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulator/api/eci_settings.h"
#include "emulator/api/gpu_models.h"
#include "tests/golden/eci_docs.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

using nlohmann::json;

api::EciFindings Check(std::string_view key, std::string_view value) {
  const json metadata = {{"annotations", {{std::string(key), std::string(value)}}}};
  return api::CheckEciAnnotations(metadata, "metadata", true);
}

WorldOptions OnEci() {
  WorldOptions options;
  options.nodes = 0;
  options.eci.zones = {"cn-beijing-k", "cn-beijing-h"};
  options.eci.serverless = true;
  return options;
}

std::string PodYaml(const std::string& annotations, const std::string& limits = "{}") {
  return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations: {" + annotations +
         "}\nspec:\n  containers:\n  - {name: c, image: i, resources: {limits: " + limits + "}}\n";
}

std::string Annotation(const api::Object& pod, const std::string& name) {
  const json& all = pod.doc().at("metadata").value("annotations", json::object());
  return all.value("k8s.aliyun.com/" + name, "");
}

TEST_CASE("annotations: the example is taken as the table says, the bad value is refused") {
  for (const api::EciAnnotation& row : api::EciAnnotations()) {
    CAPTURE(std::string(row.key));
    auto found = Check(row.key, row.example);
    if (row.key == "k8s.aliyun.com/eci-spot-price-limit") found.errors.clear();  // needs its strategy: below
    const bool refused = row.fidelity == api::EciFidelity::kRefused;
    CHECK(found.errors.empty() != refused);
    const bool warned =
        row.fidelity == api::EciFidelity::kIgnored || row.fidelity == api::EciFidelity::kAdded;
    CHECK(found.warnings.empty() != warned);
    CHECK_FALSE(row.note.empty());
    if (row.problem != nullptr) CHECK_FALSE(row.bad.empty());
    if (!row.bad.empty()) CHECK_FALSE(Check(row.key, row.bad).errors.empty());
  }
}

TEST_CASE("annotations: those that contradict each other, and those that nobody knows") {
  const auto errors = [](const char* annotations) {
    return api::CheckEciAnnotations({{"annotations", json::parse(annotations)}}, "metadata", true)
        .errors.size();
  };
  CHECK(errors(R"({"k8s.aliyun.com/eci-spot-strategy": "SpotWithPriceLimit"})") == 1);
  CHECK(errors(R"({"k8s.aliyun.com/eci-spot-price-limit": "0.5"})") == 1);
  CHECK(errors(R"({"k8s.aliyun.com/eci-spot-price-limit": "0.5",
                   "k8s.aliyun.com/eci-spot-strategy": "SpotWithPriceLimit"})") == 0);
  CHECK(errors(R"({"k8s.aliyun.com/eci-image-cache": "false", "k8s.aliyun.com/eci-auto-imc": "true"})") == 1);
  CHECK(errors(R"({"k8s.aliyun.com/eci-use-specs": "ecs.gn6i-c4g1.xlarge,2-4Gi"})") == 1);
  CHECK(errors(R"({"k8s.aliyun.com/eci-use-specs": "1-2Gi,2-4Gi,4-8Gi,8-16Gi,16-32Gi,32-64Gi"})") == 1);
  const auto unknown = Check("k8s.aliyun.com/eci-use-spec", "2-4Gi");
  REQUIRE(unknown.warnings.size() == 1);
  CHECK(unknown.warnings[0].message.find("did you mean k8s.aliyun.com/eci-use-specs?") != std::string::npos);
}

TEST_CASE("types: each gives an instance with its GPUs, bare metal and unknown ones are refused") {
  World world(OnEci());
  for (const api::EciType& type : api::EciTypes()) {
    CAPTURE(std::string(type.name));
    const std::string limits = type.gpus > 0 ? "{nvidia.com/gpu: " + std::to_string(type.gpus) + "}" : "{}";
    const auto made =
        world.TryApply(PodYaml("k8s.aliyun.com/eci-use-specs: " + std::string(type.name), limits));
    CHECK(made.ok() == type.eci);
    if (!made.ok()) continue;
    const auto pod = world.Get("Pod", "p");
    CHECK(Annotation(pod, "eci-instance-spec") == type.name);
    const auto instance = api::EciInstanceOf(api::DecodePod(pod).meta);
    REQUIRE(instance);
    const auto gpus = api::EciGpus(*instance, api::DecodePod(pod).meta);
    CHECK(gpus.devices.size() == static_cast<size_t>(type.gpus));
    for (const api::Gpu& gpu : gpus.devices) {
      CHECK(gpu.model == type.gpu_model);
      CHECK((gpu.links.size() == static_cast<size_t>(type.gpus - 1)) == (type.nvlink || type.gpus == 1));
    }
    const auto shares = api::GpuSharesOf(api::DecodePod(pod).meta);
    CHECK((shares.empty() ? 0 : shares.at("c").size()) == static_cast<size_t>(type.gpus));
    REQUIRE(world.cluster->registry().Delete({"Pod", "default", "p"}, {.grace_period_seconds = 0}).ok());
    world.executor.Settle();
    REQUIRE_FALSE(world.Exists("Pod", "p"));
  }
  const auto unknown = world.TryApply(PodYaml("k8s.aliyun.com/eci-use-specs: ecs.gn7i-c8g1.3xlarge"));
  REQUIRE_FALSE(unknown.ok());
  REQUIRE(unknown.error().fields.size() == 1);
  CHECK(unknown.error().fields[0].field == "metadata.annotations.k8s.aliyun.com/eci-use-specs");
  CHECK(unknown.error().fields[0].message.find("near it: ecs.gn7i-c8g1.2xlarge") != std::string::npos);
}

TEST_CASE("without a type, vCPU and memory are rounded up to a pair that is sold") {
  struct Row {
    const char *limits, *spec;
  };
  for (const Row& row : {Row{"{}", "1.0-2.0Gi"}, Row{"{cpu: 2, memory: 3Gi}", "2.0-4.0Gi"},
                         Row{"{cpu: 100m, memory: 256Mi}", "0.25-0.50Gi"}, Row{"{cpu: 3}", "4.0-2.0Gi"},
                         Row{"{cpu: 16}", "16.0-16.0Gi"}}) {
    CAPTURE(row.limits);
    World world(OnEci());
    world.Apply(PodYaml("", row.limits));
    CHECK(Annotation(world.Get("Pod", "p"), "eci-instance-spec") == row.spec);
  }
}

TEST_CASE("candidates are tried in order; without stock the pod waits or fails, as it asks") {
  WorldOptions options = OnEci();
  options.eci.stock = {{"ecs.gn7i-c8g1.2xlarge", 0}, {"ecs.gn6i-c4g1.xlarge", 1}};
  World world(options);
  const std::string both = "k8s.aliyun.com/eci-use-specs: 'ecs.gn7i-c8g1.2xlarge,ecs.gn6i-c4g1.xlarge'";
  const std::string gpu = "{nvidia.com/gpu: 1}";
  world.Apply(PodYaml(both, gpu));
  CHECK(Annotation(world.Get("Pod", "p"), "eci-instance-spec") == "ecs.gn6i-c4g1.xlarge");
  auto second = PodYaml(both, gpu);
  second.replace(second.find("name: p"), 7, "name: q");
  world.Apply(second);
  const auto waiting = world.Get("Pod", "q").doc();
  CHECK(waiting.at("status").at("phase") == "Pending");
  CHECK(waiting.at("status").at("conditions").at(1).at("reason") == "NoStock");
  CHECK(world.EventsOf("q") ==
        std::vector<std::string>{
            "Warning NoStock Create ECI failed because the specified instance is out of stock."});
  auto third = PodYaml(both + ", k8s.aliyun.com/eci-fail-strategy: fail-fast", gpu);
  third.replace(third.find("name: p"), 7, "name: r");
  world.Apply(third);
  CHECK(world.Get("Pod", "r").doc().at("status").at("reason") == "NoStock");
  // The instance comes back, and the one that waits gets it.
  REQUIRE(world.cluster->registry().Delete({"Pod", "default", "p"}, {.grace_period_seconds = 0}).ok());
  world.executor.Settle();
  CHECK(Annotation(world.Get("Pod", "q"), "eci-instance-spec") == "ecs.gn6i-c4g1.xlarge");
}

TEST_CASE("a pod that finds no instance gives up when it said it would") {
  WorldOptions options = OnEci();
  options.eci.vcpu_quota = 1;
  World world(options);
  world.Apply(PodYaml("k8s.aliyun.com/eci-use-specs: 2-4Gi, k8s.aliyun.com/eci-max-pending-minute: '10'"));
  world.Advance(std::chrono::minutes(9));
  CHECK(world.Get("Pod", "p").doc().at("status").at("phase") == "Pending");
  world.Advance(std::chrono::minutes(2));
  CHECK(world.Get("Pod", "p").doc().at("status").at("phase") == "Failed");
  CHECK(world.Get("Pod", "p").doc().at("status").at("reason") == "QuotaExceeded");
}

TEST_CASE("a modelled start: the sandbox, and the pull unless a cache has the image") {
  WorldOptions options = OnEci();
  options.eci.sandbox_seconds = 5;
  options.eci.megabytes_per_second = 10;
  options.eci.image_caches = {"cached*"};
  for (const bool cached : {false, true}) {
    World world(options);
    auto yaml = PodYaml("k8s.aliyun.com/eci-auto-imc: 'true'");
    if (cached) yaml.replace(yaml.find("image: i"), 8, "image: cached");
    world.Apply(yaml);
    world.Advance(std::chrono::seconds(4));
    CHECK(world.Get("Pod", "p").doc().at("status").at("phase") == "Pending");
    world.Advance(std::chrono::seconds(2));  // AnyImage is 100 MB large
    CHECK((world.Get("Pod", "p").doc().at("status").at("phase") == "Running") == cached);
    world.Advance(std::chrono::seconds(10));
    CHECK(world.Get("Pod", "p").doc().at("status").at("phase") == "Running");
  }
}

TEST_CASE("labels send a pod to ECI where nodes are, and only when they are full") {
  WorldOptions options = OnEci();
  options.eci.serverless = false;
  options.nodes = 1;
  options.cpus = 1;
  World world(options);
  const auto node_of = [&](const char* name, const std::string& label, const char* cpu) {
    world.Apply("apiVersion: v1\nkind: Pod\nmetadata: {name: " + std::string(name) + ", labels: {" + label +
                "}}\nspec:\n  containers:\n  - {name: c, image: i, resources: {requests: {cpu: " + cpu +
                "}}}\n");
    return world.Get("Pod", name).doc().at("spec").value("nodeName", "");
  };
  CHECK(node_of("a", "alibabacloud.com/eci: 'true'", "100m") == "virtual-kubelet-cn-beijing-k");
  CHECK(node_of("b", "alibabacloud.com/burst-resource: eci", "900m") == "node-1");
  CHECK(node_of("c", "alibabacloud.com/burst-resource: eci", "900m") == "virtual-kubelet-cn-beijing-k");
  CHECK(node_of("d", "app: x", "900m").empty());
}

TEST_CASE("the fidelity page lists them all") {
  const std::string path = SourcePath("docs/fidelity-eci.md"), page = EciFidelityPage();
  if (std::getenv("TFEMU_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << page;
  CHECK_MESSAGE(ReadFile(path) == page, "TFEMU_UPDATE_GOLDENS=1 build/tests/golden/eci_test writes it anew");
}

}  // namespace
}  // namespace tfemu::test
