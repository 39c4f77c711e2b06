#include "emulator/daemon/config.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "emulator/api/gpu_models.h"
#include "emulator/api/validation.h"
#include "emulator/base/strings.h"
#include "emulator/codec/yaml.h"

namespace tfemu::daemon {
namespace {

constexpr int kMostPods = 110;  // a kubelet's default, and less than a /24 has addresses

std::string OsName() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("PRETTY_NAME="))
      return std::string(Trim(line.substr(12))).substr(1, line.size() - 14);
  return "Linux";
}

Error AtLine(const Error& error, const codec::Document& document, const std::string& file) {
  if (error.fields.empty()) return error;
  const FieldMessage& first = error.fields.front();
  return Error{Reason::kInvalid, file + ":" + std::to_string(document.lines.LineOf(first.field)) + ": " +
                                     (first.field.empty() ? "" : first.field + ": ") + first.message};
}

Result<api::ClusterConfig> ReadConfigFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{Reason::kNotFound, path + ": cannot be read", "check the path given to --config"};
  std::stringstream text;
  text << file.rdbuf();
  ASSIGN_OR_RETURN(const codec::Document document, codec::ParseYamlDocument(text.str(), path));
  auto config = api::DecodeClusterConfig(document.value);
  if (!config.ok()) return AtLine(config.error(), document, path);
  return config;
}

// What --gpus and --gpu-model ask for on every node.
Result<std::optional<api::GpuConfig>> GpusOf(const Options& options) {
  api::GpuConfig gpus;
  gpus.model = options.gpu_model;
  if (!gpus.model.empty())
    if (const auto known = api::FindGpuModel(gpus.model); !known.ok())
      return Error{Reason::kInvalid, "--gpu-model " + gpus.model + ": " + known.error().message,
                   known.error().hint};
  if (options.gpus.empty() || options.gpus == "none") return std::optional<api::GpuConfig>();
  if (options.gpus == "all") {
    if (!gpus.model.empty())
      return Error{Reason::kInvalid, "--gpus all is every GPU of the host; virtual ones of --gpu-model " +
                                         gpus.model + " need a number"};
    gpus.all = true;
    return std::optional(gpus);
  }
  const auto count = ParseInt(options.gpus);
  if (!count || *count < 0 || *count > 1024)
    return Error{Reason::kInvalid,
                 "--gpus " + options.gpus + ": must be a number from 0 to 1024, all or none"};
  gpus.count = static_cast<int>(*count);
  return gpus.count == 0 ? std::optional<api::GpuConfig>() : std::optional(gpus);
}

std::vector<std::string> SplitZones(const std::string& text) {
  std::vector<std::string> zones;
  for (const std::string& zone : Split(text, ','))
    if (!zone.empty()) zones.push_back(zone);
  return zones;
}

Result<void> AddZones(const Options& options, api::ClusterConfig& config) {
  for (const std::string& zone : SplitZones(options.eci))
    config.eci.zones.push_back(zone.find('-') == std::string::npos ? config.eci.region + "-" + zone : zone);
  std::set<std::string> known;
  for (const std::string& zone : config.eci.zones) {
    if (const std::string problem = api::NameProblem(zone); !problem.empty())
      return Error{Reason::kInvalid, "ECI zone \"" + zone + "\": " + problem, "such as --eci cn-beijing-k"};
    if (!known.insert(zone).second) return Error{Reason::kInvalid, "ECI zone " + zone + " is named twice"};
  }
  if (options.eci.empty()) return {};
  config.eci.serverless = true;
  if (!config.nodes.empty()) return {};
  // All that there is are zones: what the flags say of nodes would say nothing.
  if (!options.gpus.empty() && options.gpus != "none" && options.gpus != "0")
    return Error{
        Reason::kInvalid, "--gpus " + options.gpus + " is about nodes, and --eci has none",
        "an instance's type brings its GPUs; eci.gpus in cluster.yaml puts devices behind the zones"};
  for (const auto& [flag, value, unset] :
       {std::tuple{"--nodes ", options.nodes, 1}, {"--cpus ", options.cpus, 0}})
    if (value != unset)
      return Error{Reason::kInvalid, flag + std::to_string(value) + " is about nodes, and --eci has none"};
  return {};
}

// A zone of ECI: its capacity is the region's, a pod takes what its instance has.
api::NodeConfig EciNode(const api::ClusterConfig& config, const std::string& zone) {
  api::NodeConfig node;
  node.name = api::EciNodeName(zone);
  node.cpu = api::Quantity{5'000'000};
  node.memory = api::Quantity{(int64_t{20} << 40) * 1000};
  node.gpus = config.eci_gpus;
  const std::string region = zone.substr(0, zone.find_last_of('-'));
  node.labels = {{"type", "virtual-kubelet"},
                 {"node-role.kubernetes.io/agent", ""},
                 {"topology.kubernetes.io/region", region},
                 {"topology.kubernetes.io/zone", zone}};
  node.taints = {{api::kEciTaint, "alibabacloud", "NoSchedule"}};
  return node;
}

}  // namespace

std::string FlagsText(const Options& options) {
  const Options defaults;
  std::string text;
  const auto add = [&](const char* flag, const std::string& value, const std::string& usual) {
    if (value != usual) text += (text.empty() ? "--" : " --") + std::string(flag) + " " + value;
  };
  add("config", options.config_file, "");
  add("nodes", std::to_string(options.nodes), std::to_string(defaults.nodes));
  add("cpus", std::to_string(options.cpus), std::to_string(defaults.cpus));
  add("gpus", options.gpus, defaults.gpus);
  add("gpu-model", options.gpu_model, "");
  add("eci", options.eci, "");
  return text;
}

HostFacts ReadHostFacts() {
  utsname names{};
  uname(&names);
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return {static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), pages * page, names.release, OsName()};
}

Result<api::ClusterConfig> MakeConfig(const Options& options) {
  api::ClusterConfig config;
  if (!options.config_file.empty()) {
    ASSIGN_OR_RETURN(config, ReadConfigFile(options.config_file));
  }
  ASSIGN_OR_RETURN(const std::optional<api::GpuConfig> gpus, GpusOf(options));
  RETURN_IF_ERROR(AddZones(options, config));
  if (config.nodes.empty() && !config.eci.serverless)
    for (int i = 0; i < options.nodes; ++i) config.nodes.push_back({"node-" + std::to_string(i + 1)});
  if (options.cpus > 0)
    for (api::NodeConfig& node : config.nodes) node.cpu = api::Quantity{options.cpus * 1000};
  for (api::NodeConfig& node : config.nodes)
    if (gpus) node.gpus = {*gpus};
  for (const std::string& zone : config.eci.zones) config.nodes.push_back(EciNode(config, zone));
  if (config.nodes.size() > 250)
    return Error{Reason::kInvalid,
                 std::to_string(config.nodes.size()) + " nodes: at most 250 have addresses for their pods"};
  return config;
}

std::vector<api::Json> MakeNodes(const api::ClusterConfig& config, const std::vector<api::NodeGpus>& gpus,
                                 const HostFacts& host, Instant now) {
  std::vector<api::Json> nodes;
  for (size_t i = 0; i < config.nodes.size(); ++i) {
    const api::NodeConfig& node = config.nodes[i];
    const std::string prefix = "10.244." + std::to_string(i) + ".";
    api::NodeDescription description{node.name,   prefix + "0/24", prefix + "1",
                                     host.kernel, host.os_image,   "tfemu://" TFEMU_VERSION};
    description.capacity = {{"cpu", node.cpu.value_or(api::Quantity{host.cpus * 1000})},
                            {"memory", node.memory.value_or(api::Quantity{host.memory_bytes * 1000})},
                            {"pods", api::Quantity{kMostPods * 1000}}};
    description.gpus = gpus[i];
    description.labels = node.labels;
    if (!node.instance_type.empty())
      description.labels["node.kubernetes.io/instance-type"] = node.instance_type;
    description.taints = node.taints;
    description.now = now;
    nodes.push_back(api::MakeNode(description));
  }
  return nodes;
}

}  // namespace tfemu::daemon
