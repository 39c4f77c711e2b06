// Defaults, fields and refusals of TFJob (training-operator v1.9.4, tfjob-controller.md sections 1.2
// and 1.5).
#include <algorithm>
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
constexpr Field kSpecFields[] = {Boolean("enableDynamicWorker"), OneOf("runPolicy", kRunPolicy),
                                 String("successPolicy"), MapOf("tfReplicaSpecs", kReplicaSpecSchema)};
constexpr Schema kSpec{kSpecFields};
constexpr Field kJobFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                OneOf("spec", kSpec), Any("status")};

void ValidateReplica(const Json& replica, const std::string& type, Messages& messages) {
  const std::string path = "spec.tfReplicaSpecs." + type;
  const std::string containers = path + ".template.spec.containers";
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

// "spec.tfReplicaSpecs.PS.template" is upstream's "spec.tfReplicaSpecs[PS].template".
std::string InWebhookWords(const FieldMessage& message) {
  constexpr std::string_view kMap = "spec.tfReplicaSpecs.";
  std::string field = message.field;
  if (field.starts_with(kMap)) {
    const size_t end = std::min(field.find('.', kMap.size()), field.size());
    field = "spec.tfReplicaSpecs[" + field.substr(kMap.size(), end - kMap.size()) + "]" + field.substr(end);
  }
  return field + ": " + message.message;
}

Error Denied(Messages messages) {
  std::vector<std::string> words;
  for (const FieldMessage& message : messages) words.push_back(InWebhookWords(message));
  const std::string all = words.size() == 1 ? words.front() : "[" + Join(words, ", ") + "]";
  return Error{
      Reason::kForbidden,
      "admission webhook \"validator.tfjob.training-operator.kubeflow.org\" denied the request: " + all, "",
      std::move(messages)};
}

}  // namespace

constexpr Schema kTFJobSchema{kJobFields};

void SetTFJobDefaults(Json& job) {
  if (!Member(job, "spec").is_object()) return;
  Json& spec = job["spec"];
  if (Member(spec, "runPolicy").is_object()) SetDefault(spec["runPolicy"], "suspend", false);
}

std::vector<FieldMessage> ValidateTFJob(const Json& job, const Json*) {
  Messages messages;
  CheckMeta(job, messages);
  const Json& spec = Member(job, "spec");
  if (spec.is_object() && !Member(spec, "tfReplicaSpecs").is_object())
    messages.push_back({"spec.tfReplicaSpecs", "Required value"});
  return messages;
}

std::optional<Error> AdmitTFJob(const Json& job, const Json* previous) {
  Messages messages;
  const std::string name = Text(Member(job, "metadata"), "name");
  if (const auto problem = Dns1035Problem(name); !problem.empty())
    messages.push_back({"metadata.name", "Invalid value: \"" + name + "\": should match: " + problem});
  const Json& spec = Member(job, "spec");
  ValidateManagedBy(spec, previous, messages);
  const Json& types = Member(spec, "tfReplicaSpecs");
  if (!types.is_object()) messages.push_back({"spec.tfReplicaSpecs", "Required value: must be required"});
  else
    for (const auto& [type, replica] : types.items()) ValidateReplica(replica, type, messages);
  if (types.contains("Chief") && types.contains("Master"))
    messages.push_back({"spec.tfReplicaSpecs", "Forbidden: must not have more than 1 Chief or Master role"});
  if (messages.empty()) return std::nullopt;
  return Denied(std::move(messages));
}

}  // namespace tfemu::api
