#include "emulator/api/pod.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

Instant Time(const Json& object, std::string_view name) {
  return ParseTime(Text(object, name)).value_or(Instant{});
}

RestartPolicy DecodeRestartPolicy(const std::string& text) {
  if (text == "Never") return RestartPolicy::kNever;
  return text == "OnFailure" ? RestartPolicy::kOnFailure : RestartPolicy::kAlways;
}

ResourceFieldRef DecodeResourceFieldRef(const Json& ref) {
  ResourceFieldRef decoded{Text(ref, "containerName"), Text(ref, "resource"), {1000}};
  const auto divisor = DecodeQuantity(Member(ref, "divisor"));
  if (divisor && divisor->milli > 0) decoded.divisor = *divisor;
  return decoded;
}

EnvVar DecodeEnvVar(const Json& var) {
  EnvVar decoded{Text(var, "name"), Text(var, "value")};
  const Json& from = Member(var, "valueFrom");
  const auto key_ref = [](const Json& ref) {
    return KeyRef{Text(ref, "name"), Text(ref, "key"), Bool(ref, "optional")};
  };
  if (const Json& ref = Member(from, "configMapKeyRef"); ref.is_object()) {
    decoded.source = EnvVar::Source::kConfigMap;
    decoded.key_ref = key_ref(ref);
  } else if (const Json& secret = Member(from, "secretKeyRef"); secret.is_object()) {
    decoded.source = EnvVar::Source::kSecret;
    decoded.key_ref = key_ref(secret);
  } else if (const Json& field = Member(from, "fieldRef"); field.is_object()) {
    decoded.source = EnvVar::Source::kField;
    decoded.value = Text(field, "fieldPath");
  } else if (const Json& resource = Member(from, "resourceFieldRef"); resource.is_object()) {
    decoded.source = EnvVar::Source::kResource;
    decoded.resource = DecodeResourceFieldRef(resource);
  }
  return decoded;
}

ContainerSecurity DecodeSecurity(const Json& context) {
  const Json& capabilities = Member(context, "capabilities");
  return {Int(context, "runAsUser"),
          Int(context, "runAsGroup"),
          Bool(context, "runAsNonRoot"),
          Bool(context, "readOnlyRootFilesystem"),
          !Bool(context, "allowPrivilegeEscalation", true),
          Texts(capabilities, "add"),
          Texts(capabilities, "drop")};
}

PodDns DecodeDns(const Json& spec) {
  PodDns dns;
  if (const std::string policy = Text(spec, "dnsPolicy"); !policy.empty()) dns.policy = policy;
  const Json& config = Member(spec, "dnsConfig");
  dns.nameservers = Texts(config, "nameservers");
  dns.searches = Texts(config, "searches");
  for (const Json& option : Items(config, "options"))
    dns.options.emplace_back(Text(option, "name"), Text(option, "value"));
  return dns;
}

// A container has its pod's users where it names none of its own.
void Inherit(const Json& spec, const char* list, std::vector<Container>& containers) {
  const Json& pod = Member(spec, "securityContext");
  for (size_t i = 0; const Json& doc : Items(spec, list)) {
    ContainerSecurity& security = containers[i++].security;
    if (!security.run_as_user) security.run_as_user = Int(pod, "runAsUser");
    if (!security.run_as_group) security.run_as_group = Int(pod, "runAsGroup");
    if (!Member(Member(doc, "securityContext"), "runAsNonRoot").is_boolean())
      security.run_as_non_root = Bool(pod, "runAsNonRoot");
  }
}

Container DecodeContainer(const Json& container) {
  Container decoded;
  decoded.name = Text(container, "name");
  decoded.image = Text(container, "image");
  decoded.image_pull_policy = Text(container, "imagePullPolicy");
  decoded.working_dir = Text(container, "workingDir");
  decoded.command = Texts(container, "command");
  decoded.args = Texts(container, "args");
  for (const Json& var : Items(container, "env")) decoded.env.push_back(DecodeEnvVar(var));
  for (const Json& from : Items(container, "envFrom")) {
    const bool secret = Member(from, "secretRef").is_object();
    const Json& ref = Member(from, secret ? "secretRef" : "configMapRef");
    decoded.env_from.push_back({secret, Text(ref, "name"), Text(from, "prefix"), Bool(ref, "optional")});
  }
  for (const Json& mount : Items(container, "volumeMounts"))
    decoded.mounts.push_back({Text(mount, "name"), Text(mount, "mountPath"), Text(mount, "subPath"),
                              Bool(mount, "readOnly"), Text(mount, "subPathExpr")});
  for (const Json& port : Items(container, "ports"))
    decoded.ports.push_back({Text(port, "name"), Text(port, "protocol"),
                             static_cast<int>(Int(port, "containerPort").value_or(0))});
  const Json& resources = Member(container, "resources");
  decoded.limits = DecodeResources(Member(resources, "limits"));
  decoded.requests = DecodeResources(Member(resources, "requests"));
  decoded.probes = DecodeProbes(container);
  decoded.security = DecodeSecurity(Member(container, "securityContext"));
  decoded.sidecar = Text(container, "restartPolicy") == "Always";
  decoded.termination_path = Text(container, "terminationMessagePath");
  decoded.logs_on_error = Text(container, "terminationMessagePolicy") == "FallbackToLogsOnError";
  return decoded;
}

ContainerState DecodeState(const Json& state) {
  ContainerState decoded;
  if (const Json& running = Member(state, "running"); running.is_object()) {
    decoded.type = ContainerState::Type::kRunning;
    decoded.started_at = Time(running, "startedAt");
  } else if (const Json& ended = Member(state, "terminated"); ended.is_object()) {
    decoded = {ContainerState::Type::kTerminated,
               Text(ended, "reason"),
               Text(ended, "message"),
               static_cast<int>(Int(ended, "exitCode").value_or(0)),
               static_cast<int>(Int(ended, "signal").value_or(0)),
               Time(ended, "startedAt"),
               Time(ended, "finishedAt"),
               Text(ended, "containerID")};
  } else if (const Json& waiting = Member(state, "waiting"); waiting.is_object()) {
    decoded.reason = Text(waiting, "reason");
    decoded.message = Text(waiting, "message");
  }
  return decoded;
}

ContainerStatus DecodeContainerStatus(const Json& status) {
  ContainerStatus decoded{Text(status, "name"), Text(status, "image"), Text(status, "imageID"),
                          Text(status, "containerID")};
  decoded.state = DecodeState(Member(status, "state"));
  if (Member(Member(status, "lastState"), "terminated").is_object())
    decoded.last_state = DecodeState(status["lastState"]);
  decoded.restart_count = static_cast<int>(Int(status, "restartCount").value_or(0));
  decoded.ready = Bool(status, "ready");
  decoded.started = Bool(status, "started");
  return decoded;
}

PodPhase DecodePhase(const std::string& text) {
  for (const PodPhase phase :
       {PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed, PodPhase::kUnknown})
    if (ToString(phase) == text) return phase;
  return PodPhase::kPending;
}

PodStatus DecodeStatus(const Json& status) {
  PodStatus decoded;
  decoded.phase = DecodePhase(Text(status, "phase"));
  decoded.reason = Text(status, "reason");
  decoded.message = Text(status, "message");
  decoded.pod_ip = Text(status, "podIP");
  decoded.host_ip = Text(status, "hostIP");
  decoded.qos_class = Text(status, "qosClass");
  for (const Json& c : Items(status, "conditions"))
    decoded.conditions.push_back({Text(c, "type"), Text(c, "status") == "True", Text(c, "reason"),
                                  Text(c, "message"), Time(c, "lastTransitionTime")});
  for (const Json& c : Items(status, "initContainerStatuses"))
    decoded.init_containers.push_back(DecodeContainerStatus(c));
  for (const Json& c : Items(status, "containerStatuses"))
    decoded.containers.push_back(DecodeContainerStatus(c));
  if (Member(status, "startTime").is_string()) decoded.start_time = Time(status, "startTime");
  return decoded;
}

}  // namespace

std::string_view ToString(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending: return "Pending";
    case PodPhase::kRunning: return "Running";
    case PodPhase::kSucceeded: return "Succeeded";
    case PodPhase::kFailed: return "Failed";
    case PodPhase::kUnknown: return "Unknown";
  }
  return "Unknown";
}

std::string_view ToString(RestartPolicy policy) {
  switch (policy) {
    case RestartPolicy::kAlways: return "Always";
    case RestartPolicy::kOnFailure: return "OnFailure";
    case RestartPolicy::kNever: return "Never";
  }
  return "Always";
}

const PodCondition* PodStatus::Find(std::string_view type) const {
  const auto it = std::ranges::find(conditions, type, &PodCondition::type);
  return it == conditions.end() ? nullptr : &*it;
}

bool Pod::ready() const {
  const PodCondition* condition = status.Find("Ready");
  return condition != nullptr && condition->status;
}

Pod DecodePod(const Object& object) {
  Pod pod;
  pod.meta = DecodeMeta(object);
  const Json& spec = Member(object.doc(), "spec");
  for (const Json& c : Items(spec, "initContainers")) pod.spec.init_containers.push_back(DecodeContainer(c));
  for (const Json& c : Items(spec, "containers")) pod.spec.containers.push_back(DecodeContainer(c));
  for (const Json& v : Items(spec, "volumes")) pod.spec.volumes.push_back(DecodePodVolume(v));
  pod.spec.restart_policy = DecodeRestartPolicy(Text(spec, "restartPolicy"));
  pod.spec.termination_grace_period_seconds = Int(spec, "terminationGracePeriodSeconds").value_or(30);
  pod.spec.node_name = Text(spec, "nodeName");
  pod.spec.hostname = Text(spec, "hostname");
  pod.spec.subdomain = Text(spec, "subdomain");
  pod.spec.scheduler_name = Text(spec, "schedulerName");
  pod.spec.service_account_name = Text(spec, "serviceAccountName");
  pod.spec.node_selector = DecodeLabelMap(Member(spec, "nodeSelector"));
  for (const Json& t : Items(spec, "tolerations")) {
    const std::string op = Text(t, "operator");
    pod.spec.tolerations.push_back(
        {Text(t, "key"), op.empty() ? "Equal" : op, Text(t, "value"), Text(t, "effect")});
  }
  for (const Json& alias : Items(spec, "hostAliases"))
    pod.spec.host_aliases[Text(alias, "ip")] = Texts(alias, "hostnames");
  pod.spec.active_deadline_seconds = Int(spec, "activeDeadlineSeconds");
  const Json& security = Member(spec, "securityContext");
  Inherit(spec, "initContainers", pod.spec.init_containers);
  Inherit(spec, "containers", pod.spec.containers);
  pod.spec.dns = DecodeDns(spec);
  pod.spec.share_processes = Bool(spec, "shareProcessNamespace");
  pod.spec.ownership = {
      Int(security, "fsGroup"), {}, Text(security, "fsGroupChangePolicy") == "OnRootMismatch"};
  for (const Json& group : Items(security, "supplementalGroups"))
    if (group.is_number_integer()) pod.spec.ownership.groups.push_back(group.get<int64_t>());
  if (pod.spec.ownership.group) pod.spec.ownership.groups.push_back(*pod.spec.ownership.group);
  pod.status = DecodeStatus(Member(object.doc(), "status"));
  return pod;
}

const Container* FindContainer(const PodSpec& spec, const std::string& name) {
  for (const auto* list : {&spec.init_containers, &spec.containers})
    for (const Container& container : *list)
      if (container.name == name) return &container;
  return nullptr;
}

Resources PodRequests(const PodSpec& spec) {
  Resources sum;
  for (const Container& c : spec.containers) Add(sum, c.requests);
  Resources sidecars, largest;
  for (const Container& c : spec.init_containers) {
    if (c.sidecar) Add(sidecars, c.requests);
    Resources now = sidecars;
    if (!c.sidecar) Add(now, c.requests);
    for (const auto& [name, amount] : now) largest[name] = std::max(largest[name], amount);
  }
  Add(sum, sidecars);
  for (const auto& [name, amount] : largest) sum[name] = std::max(sum[name], amount);
  return sum;
}

}  // namespace tfemu::api
