// v1.Pod as the controllers, the scheduler and the node agent see it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/api/probe.h"
#include "emulator/api/quantity.h"

namespace tfemu::api {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };
std::string_view ToString(PodPhase phase);

enum class RestartPolicy { kAlways, kOnFailure, kNever };
std::string_view ToString(RestartPolicy policy);

struct KeyRef {
  std::string name, key;
  bool optional = false;
  friend bool operator==(const KeyRef&, const KeyRef&) = default;
};

struct ResourceFieldRef {
  std::string container, resource;
  Quantity divisor{1000};
  friend bool operator==(const ResourceFieldRef&, const ResourceFieldRef&) = default;
};

struct EnvVar {
  enum class Source { kValue, kConfigMap, kSecret, kField, kResource };
  std::string name, value;  // the field path for kField
  Source source = Source::kValue;
  KeyRef key_ref;
  ResourceFieldRef resource;
  friend bool operator==(const EnvVar&, const EnvVar&) = default;
};

struct EnvFrom {
  bool secret = false;
  std::string name, prefix;
  bool optional = false;
  friend bool operator==(const EnvFrom&, const EnvFrom&) = default;
};

struct VolumeMount {
  std::string name, mount_path, sub_path;
  bool read_only = false;
  std::string sub_path_expr = {};  // instead of sub_path, with $(VAR)s in it
  friend bool operator==(const VolumeMount&, const VolumeMount&) = default;
};

struct ContainerPort {
  std::string name, protocol = "TCP";
  int port = 0;
  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

// securityContext of a container, with what it inherits from its pod's.
struct ContainerSecurity {
  std::optional<int64_t> run_as_user, run_as_group;
  bool run_as_non_root = false;
  bool read_only_root = false;
  bool no_new_privileges = false;  // allowPrivilegeEscalation: false
  std::vector<std::string> add_capabilities, drop_capabilities;
  friend bool operator==(const ContainerSecurity&, const ContainerSecurity&) = default;
};

struct Container {
  std::string name, image, image_pull_policy, working_dir;
  std::vector<std::string> command, args;
  std::vector<EnvVar> env;
  std::vector<EnvFrom> env_from;
  std::vector<VolumeMount> mounts;
  std::vector<ContainerPort> ports;
  Resources limits, requests;
  ContainerProbes probes;
  ContainerSecurity security;
  bool sidecar = false;  // an init container with restartPolicy Always
  std::string termination_path;
  bool logs_on_error = false;  // terminationMessagePolicy FallbackToLogsOnError
  friend bool operator==(const Container&, const Container&) = default;
};

// One file of a configMap, secret, downwardAPI or projected volume.
struct VolumeItem {
  std::string key, path;  // for the downward API, key is the field path
  std::optional<int64_t> mode;
  ResourceFieldRef resource;  // set when the item names a resource
  friend bool operator==(const VolumeItem&, const VolumeItem&) = default;
};

struct FileSource {
  enum class Type { kConfigMap, kSecret, kDownward, kServiceAccountToken };
  Type type = Type::kConfigMap;
  std::string name;
  bool optional = false;
  std::vector<VolumeItem> items;  // empty: every key under its own name
  friend bool operator==(const FileSource&, const FileSource&) = default;
};

// A directory of network storage, whatever driver names it.
struct NetworkDirectory {
  std::string server, path = "/";  // the server is the bucket when it is object storage
  std::optional<unsigned> mode;
  bool read_only = false;
  bool object_storage = false;
  friend bool operator==(const NetworkDirectory&, const NetworkDirectory&) = default;
};

struct PodVolume {
  enum class Type { kEmptyDir, kHostPath, kClaim, kNetwork, kFiles, kUnsupported };
  std::string name;
  Type type = Type::kUnsupported;
  bool memory = false;               // emptyDir with medium Memory
  int64_t size_limit = 0;            // bytes, 0: none
  std::string size_limit_text = {};  // as the manifest has it
  std::string host_path, host_path_type;
  std::string claim_name;
  NetworkDirectory network;
  std::vector<FileSource> sources;
  int64_t default_mode = 0644;
  std::string unsupported;  // the member that names the type, or why it can't be provided
  bool read_only = false;
  friend bool operator==(const PodVolume&, const PodVolume&) = default;
};

struct Toleration {
  std::string key, op = "Equal", value, effect;
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// securityContext of a pod, as far as groups go.
struct VolumeOwnership {
  std::optional<int64_t> group;  // fsGroup
  std::vector<int64_t> groups;   // supplementalGroups, and fsGroup with them
  bool only_on_mismatch = false;
  friend bool operator==(const VolumeOwnership&, const VolumeOwnership&) = default;
};

// dnsPolicy and dnsConfig.
struct PodDns {
  std::string policy = "ClusterFirst";
  std::vector<std::string> nameservers, searches;
  std::vector<std::pair<std::string, std::string>> options;  // "ndots" "2"; the value may be empty
  friend bool operator==(const PodDns&, const PodDns&) = default;
};

struct PodSpec {
  std::vector<Container> init_containers, containers;
  std::vector<PodVolume> volumes;
  RestartPolicy restart_policy = RestartPolicy::kAlways;
  int64_t termination_grace_period_seconds = 30;
  std::optional<int64_t> active_deadline_seconds;
  std::string node_name, hostname, subdomain, scheduler_name, service_account_name;
  Labels node_selector;
  std::vector<Toleration> tolerations;
  std::map<std::string, std::vector<std::string>> host_aliases;  // address -> names
  VolumeOwnership ownership;
  PodDns dns;
  bool share_processes = false;  // shareProcessNamespace
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

struct ContainerState {
  enum class Type { kWaiting, kRunning, kTerminated };
  Type type = Type::kWaiting;
  std::string reason, message;
  int exit_code = 0, signal = 0;
  Instant started_at, finished_at;
  std::string container_id = {};  // of one that has terminated
  friend bool operator==(const ContainerState&, const ContainerState&) = default;
};

struct ContainerStatus {
  std::string name, image, image_id, container_id;
  ContainerState state;
  std::optional<ContainerState> last_state;  // terminated
  int restart_count = 0;
  bool ready = false, started = false;
  friend bool operator==(const ContainerStatus&, const ContainerStatus&) = default;
};

struct PodCondition {
  std::string type;
  bool status = false;
  std::string reason, message;
  Instant last_transition;
  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

struct PodStatus {
  PodPhase phase = PodPhase::kPending;
  std::string reason, message, pod_ip, host_ip, qos_class;
  std::vector<PodCondition> conditions;
  std::vector<ContainerStatus> init_containers, containers;
  std::optional<Instant> start_time;

  const PodCondition* Find(std::string_view type) const;
  friend bool operator==(const PodStatus&, const PodStatus&) = default;
};

struct Pod {
  ObjectMeta meta;
  PodSpec spec;
  PodStatus status;

  ObjectKey key() const { return {"Pod", meta.ns, meta.name}; }
  bool finished() const { return status.phase == PodPhase::kSucceeded || status.phase == PodPhase::kFailed; }
  bool ready() const;
  friend bool operator==(const Pod&, const Pod&) = default;
};

Pod DecodePod(const Object& object);
// Among init containers and containers; null when there is none of that name.
const Container* FindContainer(const PodSpec& spec, const std::string& name);
PodVolume DecodePodVolume(const Json& volume);
// The members of status that the node agent owns; arrays whole, absent members as null.
Json EncodePodStatus(const PodStatus& status);

// What the scheduler writes: of the whole document, and of the status.
Json BindPatch(const Pod& pod, const std::string& node, const Labels& annotations, Instant now);
Json UnschedulablePatch(const std::string& message, Instant now);
// ECI's words for a pod that waits for an instance; and of the status of one that is not waited for any
// longer.
Json NoInstancePatch(const std::string& reason, const std::string& message, Instant now);
Json FailedPatch(const std::string& reason, const std::string& message);

// What the scheduler counts: the sum over containers and sidecars, or the most that is had while init
// containers run (one at a time, with the sidecars before it) when that is more.
Resources PodRequests(const PodSpec& spec);

// Fills in what the API server does for every pod template (also in a Deployment or ReplicaSet).
void SetPodTemplateDefaults(Json& pod_or_template);
void SetPodDefaults(Json& pod);
// What the service account and priority admission plugins add to a new pod; `suffix` names the token's
// volume.
void AdmitPod(Json& pod, const std::string& suffix);

std::vector<FieldMessage> ValidatePod(const Json& pod, const Json* previous);
// For the template of any workload at `path`.
std::vector<FieldMessage> ValidatePodSpec(const Json& spec, const std::string& path);

}  // namespace tfemu::api
