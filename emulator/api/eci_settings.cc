#include "emulator/api/eci_settings.h"

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/gpu_models.h"
#include "emulator/api/schema.h"
#include "emulator/base/rng.h"

namespace tfemu::api {
namespace {

using nlohmann::json;

constexpr Field kQuotaFields[] = {Integer("gpus"), Integer("vcpus")};
constexpr Schema kQuota{kQuotaFields};
constexpr Field kPullFields[] = {Field{"megabytesPerSecond", Type::kNumber},
                                 Field{"sandboxSeconds", Type::kNumber}};
constexpr Schema kPull{kPullFields};
constexpr Field kEciFields[] = {Any("gpus"),
                                String("imageCaches").List(),
                                Field{"prices", Type::kNumber, Shape::kMap},
                                OneOf("pull", kPull),
                                OneOf("quota", kQuota),
                                String("region"),
                                Boolean("serverless"),
                                Field{"stock", Type::kInteger, Shape::kMap},
                                String("zones").List()};
constexpr Schema kEci{kEciFields};

double Number(const json& doc, const char* name) {
  const json& value = Member(doc, name);
  return value.is_number() ? value.get<double>() : 0;
}

void CheckTypes(const json& eci, const char* name, const std::string& path,
                std::vector<FieldMessage>& messages) {
  const json& map = Member(eci, name);
  if (!map.is_object()) return;
  for (const auto& [type, value] : map.items()) {
    const std::string at = path + "." + name + "." + type;
    if (const auto spec = ParseEciSpec(type); !spec.ok())
      messages.push_back({at, spec.error().message + "; " + spec.error().hint});
    if (value.is_number() && value.get<double>() < 0)
      messages.push_back({at, "must be greater than or equal to 0"});
  }
}

std::string Lookup(const ObjectMeta& meta, const std::string& key) {
  const auto it = meta.annotations.find(std::string(kEciPrefix) + key);
  return it == meta.annotations.end() ? "" : it->second;
}

}  // namespace

std::vector<FieldMessage> CheckEciSettings(const json& eci, const std::string& path) {
  std::vector<FieldMessage> messages;
  if (eci.is_null()) return messages;
  const FieldFindings findings = CheckFields(eci, kEci);
  for (const auto* found : {&findings.errors, &findings.warnings})
    for (const FieldMessage& message : *found)
      messages.push_back({message.field.empty() ? path : path + "." + message.field, message.message});
  CheckTypes(eci, "stock", path, messages);
  CheckTypes(eci, "prices", path, messages);
  for (const char* name : {"vcpus", "gpus"})
    if (Int(Member(eci, "quota"), name).value_or(0) < 0)
      messages.push_back({path + ".quota." + name, "must be greater than or equal to 0"});
  for (const char* name : {"sandboxSeconds", "megabytesPerSecond"})
    if (Number(Member(eci, "pull"), name) < 0)
      messages.push_back({path + ".pull." + name, "must be greater than or equal to 0"});
  return messages;
}

EciSettings DecodeEciSettings(const json& eci) {
  EciSettings settings;
  if (!eci.is_object()) return settings;
  if (const std::string region = Text(eci, "region"); !region.empty()) settings.region = region;
  settings.zones = Texts(eci, "zones");
  if (settings.zones.empty()) settings.zones = {settings.region + "-k"};
  for (std::string& zone : settings.zones)
    if (zone.find('-') == std::string::npos) zone = settings.region + "-" + zone;
  settings.serverless = Bool(eci, "serverless");
  const auto read = [&](const char* name, auto& map) {
    if (const json& doc = Member(eci, name); doc.is_object())
      for (const auto& [type, value] : doc.items())
        if (value.is_number()) value.get_to(map[type]);
  };
  read("stock", settings.stock);
  read("prices", settings.prices);
  settings.vcpu_quota = static_cast<int>(Int(Member(eci, "quota"), "vcpus").value_or(0));
  settings.gpu_quota = static_cast<int>(Int(Member(eci, "quota"), "gpus").value_or(0));
  settings.sandbox_seconds = Number(Member(eci, "pull"), "sandboxSeconds");
  settings.megabytes_per_second = Number(Member(eci, "pull"), "megabytesPerSecond");
  settings.image_caches = Texts(eci, "imageCaches");
  return settings;
}

std::string EciNodeName(const std::string& zone) { return "virtual-kubelet-" + zone; }

bool IsEciNode(const ObjectMeta& node) {
  const auto type = node.labels.find("type");
  return type != node.labels.end() && type->second == "virtual-kubelet";
}

std::optional<EciInstance> EciInstanceOf(const ObjectMeta& pod) {
  const std::string id = Lookup(pod, "eci-instance-id");
  if (id.empty()) return std::nullopt;
  const auto spec = ParseEciSpec(Lookup(pod, "eci-instance-spec"));
  if (!spec.ok()) return std::nullopt;
  return EciInstance{id, spec.value()};
}

NodeGpus EciGpus(const EciInstance& instance, const ObjectMeta& pod) {
  if (instance.spec.gpus() == 0) return {};
  // Eight numbers an instance, above those of the nodes' own virtual GPUs.
  const int first = static_cast<int>(0x01000000 + Fnv1a(instance.id) % 0x07000000 * 8);
  auto gpus =
      MakeVirtualGpus({std::string(instance.spec.type->gpu_model), instance.spec.gpus(), first, 0, {}});
  if (!gpus.ok()) return {};
  const std::string driver = Lookup(pod, "eci-gpu-driver-version");
  for (Gpu& gpu : gpus.value())
    if (!driver.empty()) gpu.driver = driver.substr(driver.find('=') + 1);
  return {std::move(gpus).value(), {}};
}

}  // namespace tfemu::api
