// The few things front ends read from any object, without knowing its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/api/selector.h"
#include "emulator/base/executor.h"

namespace tfemu::api {

struct ContainerView {
  std::string name;
  bool init = false;
  int attempt = 0;  // its restart count: the number of the attempt that runs or ran last
  enum class State { kWaiting, kRunning, kTerminated } state = State::kWaiting;
  std::string reason;  // of waiting and terminated
  std::string message;
  int exit_code = 0;  // of terminated
};

struct PodView {
  std::string ns, name, uid;
  std::string phase, status_word;
  std::string node, address;
  std::string restart_policy;
  std::string default_container;          // by annotation, else the first
  std::string unschedulable;              // the scheduler's sentence while the pod finds no node
  std::vector<ContainerView> containers;  // init containers first
  bool terminating = false;

  bool over() const { return phase == "Succeeded" || phase == "Failed"; }
  const ContainerView* Find(const std::string& container) const;
};

PodView ViewPod(const Object& pod);

struct ConditionView {
  std::string type, status, reason, message;
};
std::vector<ConditionView> ConditionsOf(const Object& object);
// observedGeneration is behind: the status does not speak of the present spec.
bool StatusIsStale(const Object& object);

Labels LabelsOf(const Object& object);
Labels AnnotationsOf(const Json& doc);
std::string NamespaceOf(const Json& doc);  // "" when the document has none
std::string KindOf(const Json& doc);
std::string ApiVersionOf(const Json& doc);
std::string NameOf(const Json& doc);
void SetNamespace(Json& doc, const std::string& ns);

struct OwnerView {
  std::string kind, name, uid;
};
std::optional<OwnerView> ControllerOf(const Object& object);

// Pods that a Service, Deployment or ReplicaSet selects; empty selects nothing here.
Selector PodSelectorOf(const Object& object);
// The service's port as the pod's: number, or the named container port of `pod`. 0: there is none.
int TargetPort(const Object& service, int port, const Object& pod);
// The port a pod's container calls `name`; 0: none.
int NamedPort(const Object& pod, const std::string& name);

bool UsesClaim(const Object& pod, const std::string& claim);
int64_t DesiredReplicas(const Object& object);    // spec.replicas, 1 when absent
int64_t AvailableReplicas(const Object& object);  // status.availableReplicas
std::vector<std::string> ImagesOf(
    const Json& doc);  // every container image anywhere in the document, in order

struct NodeView {
  std::string name, cpu, memory;       // capacities as written
  std::string gpus;                    // as GpuSummary says it; "" without any
  std::vector<std::string> gpu_lines;  // one a device, as nvidia-smi -L has it
  bool ready = false;
};
NodeView ViewNode(const Object& node);

// {"kind": "List", "items": [...]}, as kubectl prints several objects.
Json MakeList(const std::vector<Object>& objects);

struct EventView {
  std::string type, reason, message, source;
  std::string kind, ns, name, uid;  // of the object it is about
  Instant first, last;
  int64_t count = 1;
};
EventView ViewEvent(const Object& event);

}  // namespace tfemu::api
