#include "emulator/api/cluster_config.h"

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/schema.h"
#include "emulator/api/validation.h"

namespace tfemu::api {
namespace {

constexpr Field kGpuFields[] = {
    Integer("count"), String("model"),
    String("uuids").List().Ignored("GPUs are counted, not bound to devices of the host")};
constexpr Schema kGpus{kGpuFields};
constexpr Field kTaintFields[] = {String("effect"), String("key"), String("value")};
constexpr Schema kTaintSchema{kTaintFields};
constexpr Field kNodeFields[] = {Field{"cpu", Type::kQuantity},    OneOf("gpus", kGpus),
                                 String("instanceType"),           String("labels").Map(),
                                 Field{"memory", Type::kQuantity}, String("name"),
                                 ListOf("taints", kTaintSchema)};
constexpr Schema kNodeConfig{kNodeFields};
constexpr Field kConfigFields[] = {String("apiVersion"), String("images").List(),      String("kind"),
                                   String("nas").Map(),  ListOf("nodes", kNodeConfig), Integer("timeScale")};
constexpr Schema kConfig{kConfigFields};

NodeConfig DecodeNodeConfig(const Json& node, size_t index) {
  NodeConfig config;
  config.name = Text(node, "name");
  if (config.name.empty()) config.name = "node-" + std::to_string(index + 1);
  config.cpu = DecodeQuantity(Member(node, "cpu"));
  config.memory = DecodeQuantity(Member(node, "memory"));
  config.gpus = static_cast<int>(Int(Member(node, "gpus"), "count").value_or(0));
  config.gpu_model = Text(Member(node, "gpus"), "model");
  config.instance_type = Text(node, "instanceType");
  config.labels = DecodeLabelMap(Member(node, "labels"));
  for (const Json& taint : Items(node, "taints"))
    config.taints.push_back({Text(taint, "key"), Text(taint, "value"), Text(taint, "effect")});
  return config;
}

Messages CheckConfig(const Json& doc) {
  FieldFindings findings = CheckFields(doc, kConfig);
  Messages messages = std::move(findings.errors);
  messages.insert(messages.end(), findings.warnings.begin(), findings.warnings.end());
  if (Text(doc, "apiVersion") != "tfemu.dev/v1alpha1")
    messages.push_back({"apiVersion", "must be tfemu.dev/v1alpha1"});
  if (Text(doc, "kind") != "Cluster") messages.push_back({"kind", "must be Cluster"});
  for (size_t i = 0; const Json& node : Items(doc, "nodes")) {
    const std::string path = "nodes[" + std::to_string(i++) + "]";
    if (const std::string name = Text(node, "name"); !name.empty() && !NameProblem(name).empty())
      messages.push_back({path + ".name", "Invalid value: \"" + name + "\": " + NameProblem(name)});
    CheckNotNegative(Member(node, "gpus"), "count", path + ".gpus", messages);
  }
  if (const auto scale = Int(doc, "timeScale"); scale && *scale < 1)
    messages.push_back({"timeScale", "must be at least 1"});
  return messages;
}

}  // namespace

Result<ClusterConfig> DecodeClusterConfig(const Json& doc) {
  if (Messages messages = CheckConfig(doc); !messages.empty())
    return Error{Reason::kInvalid, "the cluster configuration is invalid", "", std::move(messages)};
  ClusterConfig config;
  for (size_t i = 0; const Json& node : Items(doc, "nodes"))
    config.nodes.push_back(DecodeNodeConfig(node, i++));
  config.nas = DecodeLabelMap(Member(doc, "nas"));
  config.image_folders = Texts(doc, "images");
  config.time_scale = Int(doc, "timeScale").value_or(1);
  return config;
}

}  // namespace tfemu::api
