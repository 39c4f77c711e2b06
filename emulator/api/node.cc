#include "emulator/api/node.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

bool Tolerated(const Toleration& t, const Taint& taint) {
  if (!t.effect.empty() && t.effect != taint.effect) return false;
  if (t.key.empty()) return t.op == "Exists";
  return t.key == taint.key && (t.op == "Exists" || t.value == taint.value);
}

Json EncodeResources(const Resources& resources) {
  Json encoded = Json::object();
  for (const auto& [name, amount] : resources)
    encoded[name] =
        name == "memory" ? std::to_string(amount.Units() / 1024) + "Ki" : FormatQuantity(amount, false);
  return encoded;
}

Json Conditions(Instant now) {
  struct Row {
    const char *type, *status, *reason, *message;
  };
  constexpr Row kRows[] = {
      {"MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
      {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
      {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
      {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
  };
  Json list = Json::array();
  for (const Row& row : kRows)
    list.push_back(Json::object({{"type", row.type},
                                 {"status", row.status},
                                 {"reason", row.reason},
                                 {"message", row.message},
                                 {"lastHeartbeatTime", FormatTime(now)},
                                 {"lastTransitionTime", FormatTime(now)}}));
  return list;
}

// "NVIDIA A100-SXM4-40GB" -> "NVIDIA-A100-SXM4-40GB".
std::string LabelValue(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  text.resize(std::min<size_t>(text.size(), 63));
  while (!text.empty() && !std::isalnum(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

// As NVIDIA's GPU feature discovery labels a node, for node selectors.
Labels GpuLabels(const NodeGpus& gpus) {
  if (gpus.devices.empty()) return {};
  int whole = 0;
  for (const Gpu& gpu : gpus.devices) whole += gpu.mig_profile.empty() ? 1 : 0;
  const Gpu& first = gpus.devices.front();
  return {{"nvidia.com/gpu.present", "true"},
          {"nvidia.com/gpu.count", std::to_string(whole)},
          {"nvidia.com/gpu.product", LabelValue(first.model)},
          {"nvidia.com/gpu.memory", std::to_string(first.memory_bytes >> 20)},
          {"nvidia.com/gpu.compute.major",
           first.compute_capability.substr(0, first.compute_capability.find('.'))},
          {"tfemu.dev/gpu.kind", first.is_virtual() ? "virtual" : "real"}};
}

}  // namespace

Node DecodeNode(const Object& object) {
  Node node;
  node.meta = DecodeMeta(object);
  const Json& spec = Member(object.doc(), "spec");
  const Json& status = Member(object.doc(), "status");
  node.allocatable = DecodeResources(Member(status, "allocatable"));
  node.gpus = NodeGpusOf(node.meta);
  for (const Json& taint : Items(spec, "taints"))
    node.taints.push_back({Text(taint, "key"), Text(taint, "value"), Text(taint, "effect")});
  node.unschedulable = Bool(spec, "unschedulable");
  node.pod_cidr = Text(spec, "podCIDR");
  for (const Json& c : Items(status, "conditions"))
    if (Text(c, "type") == "Ready") node.ready = Text(c, "status") == "True";
  for (const Json& address : Items(status, "addresses"))
    if (Text(address, "type") == "InternalIP") node.internal_ip = Text(address, "address");
  return node;
}

Json MakeNode(const NodeDescription& node) {
  Json labels = Json::object({{"kubernetes.io/hostname", node.name},
                              {"kubernetes.io/os", "linux"},
                              {"kubernetes.io/arch", "amd64"}});
  for (const auto& [key, value] : GpuLabels(node.gpus)) labels[key] = value;
  for (const auto& [key, value] : node.labels) labels[key] = value;
  Json metadata = Json::object({{"name", node.name}, {"labels", std::move(labels)}});
  if (!node.gpus.devices.empty())
    metadata["annotations"] = Json::object({{kGpuAnnotation, EncodeGpus(node.gpus).dump()}});
  Resources capacity = node.capacity;
  Add(capacity, GpuResources(node.gpus));
  Json taints = Json::array();
  for (const Taint& t : node.taints) {
    taints.push_back(Json::object({{"key", t.key}, {"effect", t.effect}}));
    if (!t.value.empty()) taints.back()["value"] = t.value;
  }
  Json spec = Json::object({{"podCIDR", node.pod_cidr}, {"podCIDRs", Json::array({node.pod_cidr})}});
  if (!taints.empty()) spec["taints"] = std::move(taints);
  const Json addresses = Json::array({Json::object({{"type", "InternalIP"}, {"address", node.internal_ip}}),
                                      Json::object({{"type", "Hostname"}, {"address", node.name}})});
  const Json system = Json::object(
      {{"architecture", "amd64"},
       {"operatingSystem", "linux"},
       {"kernelVersion", node.kernel},
       {"osImage", node.os_image},
       {"containerRuntimeVersion", node.runtime_version},
       {"kubeletVersion", "v1.33.0-" + node.runtime_version.substr(node.runtime_version.find("//") + 2)}});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)},
                       {"status", Json::object({{"capacity", EncodeResources(capacity)},
                                                {"allocatable", EncodeResources(capacity)},
                                                {"conditions", Conditions(node.now)},
                                                {"addresses", addresses},
                                                {"nodeInfo", system}})}});
}

Json NodeGpusPatch(const Node& node, const NodeGpus& gpus) {
  Json amounts = Json::object();
  for (const auto& [name, amount] : GpuResources(node.gpus)) amounts[name] = "0";
  for (const auto& [name, amount] : GpuResources(gpus)) amounts[name] = FormatQuantity(amount, false);
  const Json annotations = Json::object({{kGpuAnnotation, EncodeGpus(gpus).dump()}});
  return Json::object({{"metadata", Json::object({{"annotations", annotations}})},
                       {"status", Json::object({{"capacity", amounts}, {"allocatable", amounts}})}});
}

bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::ranges::any_of(tolerations, [&](const Toleration& t) { return Tolerated(t, taint); });
}

}  // namespace tfemu::api
