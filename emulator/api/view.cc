#include "emulator/api/view.h"

#include <algorithm>

#include "emulator/api/gpu.h"
#include "emulator/api/meta.h"
#include "emulator/api/printer.h"
#include "emulator/api/printer_fields.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

ContainerView ViewContainer(const Json& pod, const Json& spec, bool init) {
  ContainerView view{FieldText(spec, "name"), init};
  for (const auto& status :
       FieldList(pod, init ? "status.initContainerStatuses" : "status.containerStatuses")) {
    if (FieldText(status, "name") != view.name) continue;
    view.attempt = static_cast<int>(FieldInt(status, "restartCount"));
    if (Field(status, "state.running").is_object()) {
      view.state = ContainerView::State::kRunning;
    } else if (const Json& terminated = Field(status, "state.terminated"); terminated.is_object()) {
      view.state = ContainerView::State::kTerminated;
      view.reason = FieldText(terminated, "reason");
      view.message = FieldText(terminated, "message");
      view.exit_code = static_cast<int>(FieldInt(terminated, "exitCode"));
    } else {
      view.reason = FieldText(status, "state.waiting.reason");
      view.message = FieldText(status, "state.waiting.message");
    }
  }
  return view;
}

void CollectImages(const Json& value, std::vector<std::string>& images) {
  if (!value.is_structured()) return;
  if (value.is_object())
    for (const char* list : {"initContainers", "containers"})
      for (const auto& container : FieldList(value, list))
        if (auto image = FieldText(container, "image"); !image.empty()) images.push_back(std::move(image));
  for (const auto& child : value) CollectImages(child, images);
}

Instant TimeOr(const std::string& text, Instant fallback) { return ParseTime(text).value_or(fallback); }

}  // namespace

const ContainerView* PodView::Find(const std::string& container) const {
  const auto found = std::ranges::find(containers, container, &ContainerView::name);
  return found == containers.end() ? nullptr : &*found;
}

PodView ViewPod(const Object& object) {
  const Json& pod = object.doc();
  PodView view;
  view.ns = object.key().ns, view.name = object.key().name, view.uid = object.uid();
  view.phase = FieldText(pod, "status.phase"), view.status_word = PodStatusWord(pod);
  view.node = FieldText(pod, "spec.nodeName"), view.address = FieldText(pod, "status.podIP");
  view.restart_policy = TextOr(FieldText(pod, "spec.restartPolicy"), "Always");
  view.terminating = object.terminating();
  for (const auto& container : FieldList(pod, "spec.initContainers"))
    view.containers.push_back(ViewContainer(pod, container, true));
  for (const auto& container : FieldList(pod, "spec.containers"))
    view.containers.push_back(ViewContainer(pod, container, false));
  const Json& annotations = Field(pod, "metadata.annotations");
  if (annotations.is_object() && annotations.contains("kubectl.kubernetes.io/default-container"))
    view.default_container = annotations["kubectl.kubernetes.io/default-container"].get<std::string>();
  if (view.default_container.empty())
    for (const auto& container : view.containers)
      if (!container.init && view.default_container.empty()) view.default_container = container.name;
  for (const auto& condition : ConditionsOf(object))
    if (condition.type == "PodScheduled" && condition.status == "False")
      view.unschedulable = condition.message;
  return view;
}

std::vector<ConditionView> ConditionsOf(const Object& object) {
  std::vector<ConditionView> views;
  for (const auto& condition : FieldList(object.doc(), "status.conditions"))
    views.push_back({FieldText(condition, "type"), FieldText(condition, "status"),
                     FieldText(condition, "reason"), FieldText(condition, "message")});
  return views;
}

bool StatusIsStale(const Object& object) {
  const Json& observed = Field(object.doc(), "status.observedGeneration");
  return observed.is_number() && observed.get<int64_t>() < FieldInt(object.doc(), "metadata.generation");
}

Labels AnnotationsOf(const Json& doc) { return DecodeLabelMap(Field(doc, "metadata.annotations")); }

Labels LabelsOf(const Object& object) {
  Labels labels;
  const Json& doc = Field(object.doc(), "metadata.labels");
  if (doc.is_object())
    for (const auto& [key, value] : doc.items())
      if (value.is_string()) labels[key] = value.get<std::string>();
  return labels;
}

std::string NamespaceOf(const Json& doc) { return FieldText(doc, "metadata.namespace"); }
std::string KindOf(const Json& doc) { return FieldText(doc, "kind"); }
std::string ApiVersionOf(const Json& doc) { return FieldText(doc, "apiVersion"); }
std::string NameOf(const Json& doc) { return FieldText(doc, "metadata.name"); }

void SetNamespace(Json& doc, const std::string& ns) {
  if (Field(doc, "metadata").is_object() || Field(doc, "metadata").is_null())
    doc["metadata"]["namespace"] = ns;
}

std::optional<OwnerView> ControllerOf(const Object& object) {
  for (const auto& owner : FieldList(object.doc(), "metadata.ownerReferences"))
    if (Field(owner, "controller") == true)
      return OwnerView{FieldText(owner, "kind"), FieldText(owner, "name"), FieldText(owner, "uid")};
  return std::nullopt;
}

Selector PodSelectorOf(const Object& object) {
  const Json& selector = Field(object.doc(), "spec.selector");
  if (object.key().kind != "Service") return DecodeSelector(selector);
  Labels labels;
  if (selector.is_object())
    for (const auto& [key, value] : selector.items())
      if (value.is_string()) labels[key] = value.get<std::string>();
  return SelectorOf(labels);
}

int NamedPort(const Object& pod, const std::string& name) {
  for (const auto& container : FieldList(pod.doc(), "spec.containers"))
    for (const auto& port : FieldList(container, "ports"))
      if (FieldText(port, "name") == name) return static_cast<int>(FieldInt(port, "containerPort"));
  return 0;
}

int TargetPort(const Object& service, int port, const Object& pod) {
  for (const auto& entry : FieldList(service.doc(), "spec.ports")) {
    if (FieldInt(entry, "port") != port) continue;
    const Json& target = Field(entry, "targetPort");
    if (target.is_string()) return NamedPort(pod, target.get<std::string>());
    return target.is_number() ? target.get<int>() : port;
  }
  return 0;
}

bool UsesClaim(const Object& pod, const std::string& claim) {
  for (const auto& volume : FieldList(pod.doc(), "spec.volumes"))
    if (FieldText(volume, "persistentVolumeClaim.claimName") == claim) return true;
  return false;
}

int64_t DesiredReplicas(const Object& object) {
  const Json& replicas = Field(object.doc(), "spec.replicas");
  return replicas.is_number() ? replicas.get<int64_t>() : 1;
}

int64_t AvailableReplicas(const Object& object) { return FieldInt(object.doc(), "status.availableReplicas"); }

std::vector<std::string> ImagesOf(const Json& doc) {
  std::vector<std::string> images;
  CollectImages(doc, images);
  return images;
}

NodeView ViewNode(const Object& object) {
  NodeView view{.name = object.key().name};
  const Json& capacity = Field(object.doc(), "status.capacity");
  if (capacity.is_object()) {
    view.cpu = FieldText(capacity, "cpu"), view.memory = FieldText(capacity, "memory");
  }
  const NodeGpus gpus = NodeGpusOf(DecodeMeta(object));
  if (!gpus.devices.empty()) view.gpus = GpuSummary(gpus);
  for (const Gpu& gpu : gpus.devices)
    view.gpu_lines.push_back("GPU " + std::to_string(gpu.index) + ": " + gpu.model +
                             (gpu.mig_profile.empty() ? "" : " MIG " + gpu.mig_profile) +
                             " (UUID: " + gpu.uuid + ")" + (gpu.is_virtual() ? " virtual" : "") +
                             (gpu.health.empty() ? "" : ", " + gpu.health));
  for (const auto& condition : ConditionsOf(object))
    if (condition.type == "Ready") view.ready = condition.status == "True";
  return view;
}

Json MakeList(const std::vector<Object>& objects) {
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"metadata", {{"resourceVersion", ""}}}};
  list["items"] = Json::array();
  for (const auto& object : objects) list["items"].push_back(object.doc());
  return list;
}

EventView ViewEvent(const Object& object) {
  const Json& event = object.doc();
  EventView view;
  view.type = FieldText(event, "type"), view.reason = FieldText(event, "reason");
  view.message = FieldText(event, "message");
  view.source = TextOr(FieldText(event, "source.component"), FieldText(event, "reportingComponent"));
  view.kind = FieldText(event, "involvedObject.kind"), view.ns = FieldText(event, "involvedObject.namespace");
  view.name = FieldText(event, "involvedObject.name"), view.uid = FieldText(event, "involvedObject.uid");
  const Instant created = TimeOr(FieldText(event, "metadata.creationTimestamp"), {});
  view.first = TimeOr(FieldText(event, "firstTimestamp"), TimeOr(FieldText(event, "eventTime"), created));
  view.last = TimeOr(FieldText(event, "series.lastObservedTime"),
                     TimeOr(FieldText(event, "lastTimestamp"), view.first));
  view.count = std::max<int64_t>({FieldInt(event, "count"), FieldInt(event, "series.count"), 1});
  return view;
}

}  // namespace tfemu::api
