// The annotations by which pods speak to Elastic Container Instance: what each is for and what becomes of it
// here. One table serves admission, the warnings and docs/fidelity-eci.md. Sources: ECI's "pod annotations"
// page; simulation-failures-eci.md 6.1.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/api/eci_catalogue.h"
#include "emulator/api/meta.h"

namespace tfemu::api {

inline constexpr std::string_view kEciPrefix = "k8s.aliyun.com/";

enum class EciFidelity {
  kHonoured,
  kApproximated,  // `note` says how
  kIgnored,       // a warning: `note` says what does not happen
  kRefused,       // an error
  kAdded,         // written by the system; a manifest that sets it gets a warning
};

struct EciAnnotation {
  std::string_view key;  // with its prefix
  std::string_view group;
  EciFidelity fidelity;
  std::string_view note;
  std::string_view example;                                    // a value that is accepted
  std::string_view bad = "";                                   // a value that is refused; "": any is taken
  std::string (*problem)(const std::string& value) = nullptr;  // "" when the value is right
};
std::span<const EciAnnotation> EciAnnotations();

// Of the metadata of a pod or a template at `path`: wrong values and contradictions; unknown, ignored and
// system annotations. `fresh`: a new object, whose system annotations a manifest has set.
struct EciFindings {
  std::vector<FieldMessage> errors, warnings;
};
EciFindings CheckEciAnnotations(const nlohmann::json& metadata, const std::string& path, bool fresh);

// Whether the instance types that the metadata names have GPUs.
bool NamesGpuInstance(const nlohmann::json& metadata);

// Takes what only the system writes out of a pod's annotations.
void RemoveSystemAnnotations(nlohmann::json& pod);

// What a pod asks of ECI. Values have been checked when the pod was admitted.
struct EciRequest {
  std::vector<EciSpec> specs;            // eci-use-specs, in order
  std::vector<std::string> families;     // eci-instance-family
  std::vector<std::string> generations;  // eci-instance-generation
  bool economy = false;                  // eci-compute-category
  bool image_cache = false;              // eci-image-cache, eci-auto-imc or imc-id
  std::string image_cache_id;            // eci-imc-id
  bool fail_fast = false;                // eci-fail-strategy
  int max_pending_minutes = 240;         // eci-max-pending-minute
  bool random_zone = false;              // eci-schedule-strategy VSwitchRandom
};
EciRequest EciRequestOf(const ObjectMeta& pod);

// Whether labels send the pod to ECI: alibabacloud.com/eci, alibabacloud.com/burst-resource.
enum class EciPlacement { kNever, kWhenFull, kAlways };
EciPlacement EciPlacementOf(const ObjectMeta& pod);

}  // namespace tfemu::api
