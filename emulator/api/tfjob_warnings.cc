#include "emulator/api/tfjob_warnings.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/tfjob.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr size_t kLongestServiceName = 63;

bool IsKnownType(const std::string& type) {
  for (const std::string_view known : kReplicaTypes)
    if (known == type) return true;
  return false;
}

// `then`: what the operator makes of a word it does not know.
void WarnOfValue(const Json& object, const char* name, const std::string& path,
                 const std::vector<std::string>& known, const char* then,
                 std::vector<FieldMessage>& warnings) {
  const std::string value = Text(object, name);
  if (value.empty() || std::ranges::find(known, value) != known.end()) return;
  warnings.push_back({path + "." + name, "\"" + value + "\" is not known to the operator, " + then +
                                             "; it knows " + Join(known, ", ")});
}

void WarnOfReplica(const std::string& job, const std::string& type, const Json& spec, const std::string& path,
                   std::vector<FieldMessage>& warnings) {
  const int64_t replicas = Int(spec, "replicas").value_or(1);
  if (!IsKnownType(type))
    warnings.push_back(
        {path, "is no replica type: nothing is made for it; there are Chief, Evaluator, Master, PS, Worker"});
  if (replicas < 0)
    warnings.push_back({path + ".replicas", std::to_string(replicas) + " replicas: none are made"});
  if ((type == "Chief" || type == "Master") && replicas > 1)
    warnings.push_back({path + ".replicas", std::to_string(replicas) + " chiefs: TensorFlow allows one"});
  WarnOfValue(spec, "restartPolicy", path, {"Always", "ExitCode", "Never", "OnFailure"},
              "whose pods of it are refused: the job would wait for ever", warnings);
  const std::string last =
      job + "-" + ToLower(type) + "-" + std::to_string(std::max<int64_t>(replicas, 1) - 1);
  if (last.size() > kLongestServiceName)
    warnings.push_back({"metadata.name", "the service \"" + last + "\" would have " +
                                             std::to_string(last.size()) + " characters, at most " +
                                             std::to_string(kLongestServiceName) +
                                             " are allowed: the job would wait for ever"});
}

}  // namespace

std::vector<FieldMessage> TFJobWarnings(const Json& job) {
  std::vector<FieldMessage> warnings;
  const Json& spec = Member(job, "spec");
  WarnOfValue(Member(spec, "runPolicy"), "cleanPodPolicy", "spec.runPolicy", {"All", "None", "Running"},
              "which takes it for All", warnings);
  if (const std::string manager = Text(Member(spec, "runPolicy"), "managedBy");
      !manager.empty() && manager != kTrainingOperator)
    warnings.push_back({"spec.runPolicy.managedBy", "\"" + manager +
                                                        "\" is to run this job, and it is not here: nothing "
                                                        "will act on it"});
  const Json& specs = Member(spec, "tfReplicaSpecs");
  if (!specs.is_object()) return warnings;
  if (specs.empty()) warnings.push_back({"spec.tfReplicaSpecs", "has no replica types: nothing runs"});
  std::map<std::string, std::string> seen;
  for (const auto& [key, replica] : specs.items()) {
    const std::string type = CanonicalReplicaType(key), path = "spec.tfReplicaSpecs." + key;
    if (const auto [it, first] = seen.emplace(type, key); !first)
      warnings.push_back({path, "is the same replica type as " + it->second + ": one of the two counts"});
    WarnOfReplica(Text(Member(job, "metadata"), "name"), type, replica, path, warnings);
  }
  return warnings;
}

}  // namespace tfemu::api
