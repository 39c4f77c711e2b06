#include "emulator/api/cluster_config.h"

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/gpu_models.h"
#include "emulator/api/schema.h"
#include "emulator/api/validation.h"

namespace tfemu::api {
namespace {

constexpr Field kGpuFields[] = {Integer("count"), String("mig").List(), String("model"),
                                String("uuids").List()};
constexpr Schema kGpus{kGpuFields};
constexpr Field kSharingFields[] = {String("mode"), Boolean("renameByDefault"), Integer("replicas")};
constexpr Schema kSharing{kSharingFields};
constexpr Field kTaintFields[] = {String("effect"), String("key"), String("value")};
constexpr Schema kTaintSchema{kTaintFields};
constexpr Field kNodeFields[] = {Field{"cpu", Type::kQuantity},
                                 Any("gpus"),
                                 OneOf("gpuSharing", kSharing),
                                 String("instanceType"),
                                 String("labels").Map(),
                                 Field{"memory", Type::kQuantity},
                                 String("name"),
                                 ListOf("taints", kTaintSchema)};
constexpr Schema kNodeConfig{kNodeFields};
constexpr Field kConfigFields[] = {String("apiVersion"), Any("eci"),   String("images").List(),
                                   String("kind"),       Any("nas"),   ListOf("nodes", kNodeConfig),
                                   Any("oss"),           Any("tfjob"), Integer("timeScale")};
constexpr Schema kConfig{kConfigFields};

constexpr int kMostGpus = 1024;
constexpr int kSlicesByMemory = 10;  // HAMi's deviceSplitCount

GpuConfig DecodeGpuConfig(const Json& gpus) {
  GpuConfig config;
  config.count = static_cast<int>(Int(gpus, "count").value_or(0));
  config.model = Text(gpus, "model");
  config.uuids = Texts(gpus, "uuids");
  config.all = config.uuids == std::vector<std::string>{"all"};
  if (config.all) config.uuids.clear();
  config.mig = Texts(gpus, "mig");
  return config;
}

GpuSharing DecodeSharing(const Json& doc) {
  const std::string mode = Text(doc, "mode");
  GpuSharing sharing;
  if (mode == "timeSlicing") sharing.mode = GpuSharing::Mode::kTimeSlicing;
  if (mode == "memory") sharing.mode = GpuSharing::Mode::kMemory;
  const bool by_memory = sharing.mode == GpuSharing::Mode::kMemory;
  sharing.replicas = static_cast<int>(Int(doc, "replicas").value_or(by_memory ? kSlicesByMemory : 1));
  sharing.rename = Bool(doc, "renameByDefault");
  return sharing;
}

// One object, or a list of them.
std::vector<std::pair<std::string, const Json*>> GpuEntries(const Json& node, const std::string& path) {
  const Json& gpus = Member(node, "gpus");
  if (!gpus.is_array()) return {{path + ".gpus", &gpus}};
  std::vector<std::pair<std::string, const Json*>> entries;
  for (size_t i = 0; i < gpus.size(); ++i)
    entries.emplace_back(path + ".gpus[" + std::to_string(i) + "]", &gpus[i]);
  return entries;
}

void CheckGpuEntry(const Json& gpus, const std::string& path, Messages& messages) {
  if (gpus.is_null()) return;
  if (!gpus.is_object())
    return messages.push_back(
        {path, "must be a mapping such as {model: A10, count: 2} or {uuids: [all]}, or a list of such"});
  const FieldFindings findings = CheckFields(gpus, kGpus);
  for (const auto* found : {&findings.errors, &findings.warnings})
    for (const FieldMessage& message : *found)
      messages.push_back({path + "." + message.field, message.message});
  CheckNotNegative(gpus, "count", path, messages);
  if (const auto count = Int(gpus, "count"); count && *count > kMostGpus)
    messages.push_back({path + ".count", "must be at most " + std::to_string(kMostGpus)});
  const std::string model = Text(gpus, "model");
  const bool real = !Texts(gpus, "uuids").empty();
  if (real && !model.empty())
    messages.push_back(
        {path + ".uuids", "may not be set together with model: devices of the host have their own"});
  if (!Texts(gpus, "mig").empty() && model.empty())
    messages.push_back({path + ".mig", "needs a model: GPUs of the host are split with nvidia-smi mig"});
  if (model.empty()) return;
  if (const auto known = FindGpuModel(model); !known.ok())
    messages.push_back({path + ".model", known.error().message + "; " + known.error().hint});
  else if (const auto made = MakeVirtualGpus({model, 1, 0, 0, Texts(gpus, "mig")}); !made.ok())
    messages.push_back(
        {path + ".mig", made.error().message + (made.error().hint.empty() ? "" : "; " + made.error().hint)});
}

void CheckSharing(const Json& node, const std::string& path, Messages& messages) {
  const Json& sharing = Member(node, "gpuSharing");
  if (!sharing.is_object()) return;
  CheckOneOf(sharing, "mode", path + ".gpuSharing", {"none", "timeSlicing", "memory"}, messages);
  if (const auto replicas = Int(sharing, "replicas"); replicas && (*replicas < 1 || *replicas > 1000))
    messages.push_back({path + ".gpuSharing.replicas", "must be from 1 to 1000"});
  const std::string mode = Text(sharing, "mode");
  const bool slices = mode == "timeSlicing";
  if (slices && !Int(sharing, "replicas"))
    messages.push_back({path + ".gpuSharing.replicas", "is required: how many containers share one GPU"});
  if (!slices && mode != "memory" && Int(sharing, "replicas"))
    messages.push_back({path + ".gpuSharing.replicas", "needs mode: timeSlicing or memory"});
  if (!slices && Bool(sharing, "renameByDefault"))
    messages.push_back({path + ".gpuSharing.renameByDefault", "needs mode: timeSlicing"});
}

constexpr Field kStorageFields[] = {String("folder"), Field{"quota", Type::kQuantity}};
constexpr Schema kStorage{kStorageFields};
constexpr int64_t kLeastQuota = 1 << 20;

// "SERVER: /folder", or "SERVER: {folder: /folder, quota: 10Gi}".
std::map<std::string, StorageConfig> DecodeStorage(const Json& storage) {
  std::map<std::string, StorageConfig> decoded;
  if (!storage.is_object()) return decoded;
  for (const auto& [name, value] : storage.items()) {
    if (value.is_string()) decoded[name] = {value.get<std::string>(), 0};
    else
      decoded[name] = {Text(value, "folder"),
                       DecodeQuantity(Member(value, "quota")).value_or(Quantity{}).Units()};
  }
  for (auto& [name, config] : decoded)
    while (config.folder.size() > 1 && config.folder.ends_with('/')) config.folder.pop_back();
  return decoded;
}

void CheckStorage(const Json& doc, const std::string& member, Messages& messages) {
  const Json& storage = Member(doc, member);
  if (storage.is_null()) return;
  if (!storage.is_object()) return messages.push_back({member, "must be an object"});
  for (const auto& [name, value] : storage.items()) {
    const std::string path = member + "." + name;
    if (!value.is_string() && !value.is_object()) {
      messages.push_back({path, "must be a folder, or an object with folder and quota"});
      continue;
    }
    if (value.is_object()) {
      const FieldFindings findings = CheckFields(value, kStorage);
      for (const auto* found : {&findings.errors, &findings.warnings})
        for (const FieldMessage& message : *found)
          messages.push_back({path + "." + message.field, message.message});
    }
    const std::string folder = value.is_string() ? value.get<std::string>() : Text(value, "folder");
    if (!folder.starts_with('/')) messages.push_back({path, "the folder must be an absolute path"});
    if (const auto quota = DecodeQuantity(Member(value, "quota")); quota && quota->Units() < kLeastQuota)
      messages.push_back({path + ".quota", "must be at least 1Mi"});
  }
}

NodeConfig DecodeNodeConfig(const Json& node, size_t index) {
  NodeConfig config;
  config.name = Text(node, "name");
  if (config.name.empty()) config.name = "node-" + std::to_string(index + 1);
  config.cpu = DecodeQuantity(Member(node, "cpu"));
  config.memory = DecodeQuantity(Member(node, "memory"));
  for (const auto& [path, gpus] : GpuEntries(node, ""))
    if (!gpus->is_null()) config.gpus.push_back(DecodeGpuConfig(*gpus));
  config.gpu_sharing = DecodeSharing(Member(node, "gpuSharing"));
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
    for (const auto& [at, gpus] : GpuEntries(node, path)) CheckGpuEntry(*gpus, at, messages);
    CheckSharing(node, path, messages);
  }
  for (const char* storage : {"nas", "oss"}) CheckStorage(doc, storage, messages);
  const Json& eci = Member(doc, "eci");
  for (auto& message : CheckEciSettings(eci, "eci")) messages.push_back(std::move(message));
  for (const auto& [at, gpus] : GpuEntries(eci, "eci")) CheckGpuEntry(*gpus, at, messages);
  for (auto& message : CheckTFJobSettings(Member(doc, "tfjob"), "tfjob"))
    messages.push_back(std::move(message));
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
  config.nas = DecodeStorage(Member(doc, "nas"));
  config.oss = DecodeStorage(Member(doc, "oss"));
  config.image_folders = Texts(doc, "images");
  const Json& eci = Member(doc, "eci");
  config.eci = DecodeEciSettings(eci);
  for (const auto& [path, gpus] : GpuEntries(eci, ""))
    if (!gpus->is_null()) config.eci_gpus.push_back(DecodeGpuConfig(*gpus));
  config.tfjob = DecodeTFJobSettings(Member(doc, "tfjob"));
  config.time_scale = Int(doc, "timeScale").value_or(1);
  return config;
}

}  // namespace tfemu::api
