// How a user names objects: KIND [NAME...], KIND/NAME, lists of kinds, "all".
#pragma once

#include <string>
#include <vector>

#include "emulator/api/scheme.h"
#include "emulator/base/result.h"

namespace tfemu::cli {

struct Target {
  const api::Kind* kind;
  std::string name;  // "": all of the kind
};

// "pods", "po,svc", "all", "pod a b", "tfjob/a deployment/b". Unknown kinds give "did you mean".
Result<std::vector<Target>> ParseTargets(const std::vector<std::string>& words);
// One word: "NAME" (of `default_kind`) or "KIND/NAME".
Result<Target> ParseTarget(const std::string& word, std::string_view default_kind);
Result<const api::Kind*> ParseKind(const std::string& word);

// "tfjob.kubeflow.org/mnist", "pod/a": how kubectl names an object in its messages.
std::string DisplayName(const api::Kind& kind, const std::string& name);
api::ObjectKey KeyOf(const Target& target, const std::string& ns);

// The closest of `words`, if it is close enough to be meant.
std::string Closest(const std::string& word, const std::vector<std::string>& words);

}  // namespace tfemu::cli
