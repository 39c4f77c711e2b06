#include "tests/support/world.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "emulator/api/decode.h"
#include "emulator/codec/yaml.h"

namespace tfemu::test {

World::World(WorldOptions options) : runtime(executor, std::move(options.director)) {
  manager::ClusterSettings& settings = settings_;
  settings.seed = options.seed;
  settings.launch.state_folder = "/state";
  for (int i = 0; i < options.nodes; ++i) {
    const std::string prefix = "10.244." + std::to_string(i) + ".";
    api::NodeDescription node{
        "node-" + std::to_string(i + 1), prefix + "0/24", prefix + "1", "6.1", "Debian", "tfemu://0"};
    node.capacity = {{"cpu", {options.cpus * 1000}}, {"memory", {int64_t{16} << 40}}, {"pods", {110'000}}};
    if (static_cast<size_t>(i) < options.devices.size()) node.gpus = options.devices[static_cast<size_t>(i)];
    else if (options.gpus > 0) node.capacity["nvidia.com/gpu"] = {options.gpus * 1000};
    node.now = executor.Now();
    settings.nodes.push_back(api::MakeNode(node));
  }
  settings.eci = settings.launch.eci = options.eci;
  settings.tfjob = options.tfjob;
  for (const std::string& zone : options.eci.zones) {
    const std::string prefix = "10.244." + std::to_string(settings.nodes.size()) + ".";
    api::NodeDescription node{
        api::EciNodeName(zone), prefix + "0/24", prefix + "1", "6.1", "Debian", "tfemu://0"};
    node.capacity = {{"cpu", {5'000'000}}, {"memory", {int64_t{16} << 50}}, {"pods", {110'000}}};
    node.labels = {{"type", "virtual-kubelet"}};
    node.taints = {{api::kEciTaint, "alibabacloud", "NoSchedule"}};
    node.now = executor.Now();
    settings.nodes.push_back(api::MakeNode(node));
  }
  Restart();
}

void World::Restart() {
  cluster.reset();
  runtime.LoseDaemon();
  cluster =
      std::make_unique<manager::Cluster>(manager::ClusterDeps{executor, store, runtime, images}, settings_);
  ++settings_.seed;  // the next one draws other uids
  REQUIRE(cluster->Start().ok());
  executor.Settle();
}

Result<manager::Written> World::TryApply(const std::string& yaml) {
  auto documents = codec::ParseYaml(yaml, "manifest.yaml");
  if (!documents.ok()) return documents.error();
  Result<manager::Written> last = Error{Reason::kInvalid, "no document"};
  for (const auto& document : documents.value()) {
    last = cluster->registry().Create(document.value, {});
    if (!last.ok()) return last;
  }
  executor.Settle();
  return last;
}

void World::Apply(const std::string& yaml) {
  const auto written = TryApply(yaml);
  const std::string why =
      written.ok() ? ""
                   : written.error().message + (written.error().fields.empty()
                                                    ? ""
                                                    : ": " + written.error().fields[0].field + ": " +
                                                          written.error().fields[0].message);
  REQUIRE_MESSAGE(written.ok(), why);
}

api::Object World::Get(const std::string& kind, const std::string& name, const std::string& ns) const {
  const bool cluster_scoped = kind == "Node" || kind == "Namespace" || kind == "PersistentVolume";
  const auto object = store.Get({kind, cluster_scoped ? "" : ns, name});
  REQUIRE_MESSAGE(object.ok(), kind << " " << name << " does not exist");
  return object.value();
}

bool World::Exists(const std::string& kind, const std::string& name, const std::string& ns) const {
  return store.Get({kind, ns, name}).ok();
}

void World::Exit(const std::string& pod, int exit_code, const std::string& container) {
  runtime.Exit(Get("Pod", pod).uid(), container, exit_code);
  executor.Settle();
}

std::vector<std::string> World::EventsOf(const std::string& name) const {
  std::vector<api::Object> events = List("Event");
  std::ranges::sort(events, {}, [](const api::Object& e) {
    return api::Text(e.doc()["metadata"], "name").substr(api::Text(e.doc()["metadata"], "name").rfind('.'));
  });
  std::vector<std::string> lines;
  for (const api::Object& event : events) {
    if (api::Text(event.doc()["involvedObject"], "name") != name) continue;
    const auto count = api::Int(event.doc(), "count");
    lines.push_back(api::Text(event.doc(), "type") + " " + api::Text(event.doc(), "reason") + " " +
                    api::Text(event.doc(), "message") +
                    (count && *count > 1 ? " x" + std::to_string(*count) : ""));
  }
  return lines;
}

std::string SourcePath(const std::string& relative) { return std::string(TFEMU_SOURCE) + "/" + relative; }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path << " cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tfemu::test
