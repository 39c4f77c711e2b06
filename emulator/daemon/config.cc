#include "emulator/daemon/config.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

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
                                     first.field + ": " + first.message};
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

Result<int> GpuCount(const std::string& text) {
  if (text.empty() || text == "none") return 0;
  if (text == "all")
    return Error{Reason::kInvalid, "--gpus all: GPUs of the host are not bound yet",
                 "--gpus N gives the node N counted virtual GPUs"};
  const auto count = ParseInt(text);
  if (!count || *count < 0 || *count > 1024)
    return Error{Reason::kInvalid, "--gpus " + text + ": must be a number from 0 to 1024, or none"};
  return static_cast<int>(*count);
}

}  // namespace

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
  ASSIGN_OR_RETURN(const int gpus, GpuCount(options.gpus));
  if (config.nodes.empty())
    for (int i = 0; i < options.nodes; ++i) config.nodes.push_back({"node-" + std::to_string(i + 1)});
  for (api::NodeConfig& node : config.nodes) {
    if (gpus > 0) node.gpus = gpus;
    if (!options.gpu_model.empty()) node.gpu_model = options.gpu_model;
  }
  if (config.nodes.size() > 250)
    return Error{Reason::kInvalid,
                 std::to_string(config.nodes.size()) + " nodes: at most 250 have addresses for their pods"};
  return config;
}

std::vector<api::Json> MakeNodes(const api::ClusterConfig& config, const HostFacts& host, Instant now) {
  std::vector<api::Json> nodes;
  for (size_t i = 0; i < config.nodes.size(); ++i) {
    const api::NodeConfig& node = config.nodes[i];
    const std::string prefix = "10.244." + std::to_string(i) + ".";
    api::NodeDescription description{node.name,   prefix + "0/24", prefix + "1",
                                     host.kernel, host.os_image,   "tfemu://" TFEMU_VERSION};
    description.capacity = {{"cpu", node.cpu.value_or(api::Quantity{host.cpus * 1000})},
                            {"memory", node.memory.value_or(api::Quantity{host.memory_bytes * 1000})},
                            {"pods", api::Quantity{kMostPods * 1000}}};
    if (node.gpus > 0) description.capacity["nvidia.com/gpu"] = {node.gpus * 1000};
    description.labels = node.labels;
    if (!node.instance_type.empty())
      description.labels["node.kubernetes.io/instance-type"] = node.instance_type;
    if (node.gpus > 0 && !node.gpu_model.empty())
      description.labels["nvidia.com/gpu.product"] = node.gpu_model;
    description.taints = node.taints;
    description.now = now;
    nodes.push_back(api::MakeNode(description));
  }
  return nodes;
}

}  // namespace tfemu::daemon
