// Defaults, fields and refusals of TFJob (training-operator v1.9.4, tfjob-controller.md sections 1.2
// and 1.5).
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/schemas.h"
#include "emulator/api/tfjob.h"
#include "emulator/api/validation.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr Field kSchedulingPolicyFields[] = {
    Integer("minAvailable"), Field{"minResources", Type::kQuantity, Shape::kMap}, String("priorityClass"),
    String("queue"), Integer("scheduleTimeoutSeconds")};
constexpr Schema kSchedulingPolicy{kSchedulingPolicyFields};
constexpr Field kRunPolicyFields[] = {
    Integer("activeDeadlineSeconds"),
    Integer("backoffLimit"),
    String("cleanPodPolicy"),
    String("managedBy"),
    OneOf("schedulingPolicy", kSchedulingPolicy).Ignored("pods are scheduled one by one"),
    Boolean("suspend"),
    Integer("ttlSecondsAfterFinished")};
constexpr Schema kRunPolicy{kRunPolicyFields};
constexpr Field kReplicaSpecFields[] = {Integer("replicas"), String("restartPolicy"),
                                        OneOf("template", kPodTemplateSchema)};
constexpr Schema kReplicaSpecSchema{kReplicaSpecFields};
constexpr Field kSpecFields[] = {
    Boolean("enableDynamicWorker"), OneOf("runPolicy", kRunPolicy), String("successPolicy"),
    MapOf("tfReplicaSpecs", kReplicaSpecSchema),
    // The flat layout of v1 before 1.1: today's cluster drops these without a word.
    Any("cleanPodPolicy").Ignored("write it under spec.runPolicy"),
    Any("backoffLimit").Ignored("write it under spec.runPolicy"),
    Any("activeDeadlineSeconds").Ignored("write it under spec.runPolicy"),
    Any("ttlSecondsAfterFinished").Ignored("write it under spec.runPolicy")};
constexpr Schema kSpec{kSpecFields};
constexpr Field kJobFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                OneOf("spec", kSpec), Any("status")};

void ValidateReplica(const Json& replica, const std::string& type, Messages& messages) {
  const std::string path = "spec.tfReplicaSpecs." + type;
  const std::string containers = path + ".template.spec.containers";
  CheckNotNegative(replica, "replicas", path, messages);
  const Json& list = Items(Member(Member(replica, "template"), "spec"), "containers");
  if (list.empty()) messages.push_back({containers, "Required value: must be specified"});
  bool tensorflow = false;
  for (size_t i = 0; const Json& container : list) {
    const std::string at = containers + "[" + std::to_string(i++) + "]";
    if (Text(container, "image").empty())
      messages.push_back({at + ".image", "Required value: must be required"});
    tensorflow = tensorflow || Text(container, "name") == "tensorflow";
  }
  if (!tensorflow)
    messages.push_back({containers, "Required value: must have at least one container with name tensorflow"});
}

void ValidateManagedBy(const Json& spec, const Json* previous, Messages& messages) {
  const char path[] = "spec.runPolicy";
  const Json& manager = Member(Member(spec, "runPolicy"), "managedBy");
  if (previous != nullptr && Member(Member(Member(*previous, "spec"), "runPolicy"), "managedBy") != manager)
    messages.push_back(
        {std::string(path) + ".managedBy",
         "Invalid value: " + (manager.is_null() ? "\"null\"" : manager.dump()) + ": field is immutable"});
  CheckOneOf(Member(spec, "runPolicy"), "managedBy", path,
             {"kueue.x-k8s.io/multikueue", "kubeflow.org/training-operator"}, messages);
}

}  // namespace

constexpr Schema kTFJobSchema{kJobFields};

void SetTFJobDefaults(Json& job) {
  if (!Member(job, "spec").is_object()) return;
  Json& spec = job["spec"];
  if (Member(spec, "runPolicy").is_object()) SetDefault(spec["runPolicy"], "suspend", false);
}

std::vector<FieldMessage> ValidateTFJob(const Json& job, const Json* previous) {
  Messages messages;
  CheckMeta(job, messages);
  const std::string name = Text(Member(job, "metadata"), "name");
  if (messages.empty())
    if (const auto problem = Dns1035Problem(name); !problem.empty())
      messages.push_back({"metadata.name", "Invalid value: \"" + name + "\": should match: " + problem});
  const Json& spec = Member(job, "spec");
  const Json& types = Member(spec, "tfReplicaSpecs");
  if (!types.is_object()) {
    // The schema asks for the map within a spec; without one it is the webhook that speaks.
    messages.push_back(
        {"spec.tfReplicaSpecs", spec.is_object() ? "Required value" : "Required value: must be required"});
    return messages;
  }
  ValidateManagedBy(spec, previous, messages);
  for (const auto& [type, replica] : types.items()) ValidateReplica(replica, type, messages);
  if (types.contains("Chief") && types.contains("Master"))
    messages.push_back({"spec.tfReplicaSpecs", "Forbidden: must not have more than 1 Chief or Master role"});
  return messages;
}

}  // namespace tfemu::api
