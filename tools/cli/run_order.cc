#include "tools/cli/run_order.h"

#include <algorithm>
#include <map>

#include "emulator/api/scheme.h"
#include "emulator/api/view.h"
#include "emulator/base/strings.h"

namespace tfemu::cli {
namespace {

std::string RunAfter(const Manifest& manifest) {
  const api::Labels annotations = api::AnnotationsOf(manifest.document.value);
  const auto it = annotations.find(kRunAfter);
  return it == annotations.end() ? "" : it->second;
}

class Stager {
 public:
  explicit Stager(const std::vector<Manifest>& manifests) : manifests_(manifests) {}

  Result<std::vector<std::vector<Manifest>>> Run() {
    std::vector<std::vector<Manifest>> stages;
    for (const Manifest& manifest : manifests_) {
      ASSIGN_OR_RETURN(const size_t stage, StageOf(manifest));
      if (stages.size() <= stage) stages.resize(stage + 1);
      stages[stage].push_back(manifest);
    }
    return stages;
  }

 private:
  Error Wrong(const Manifest& manifest, const std::string& message) const {
    return {Reason::kInvalid,
            LocateField(manifest, std::string("metadata.annotations.") + kRunAfter, message)};
  }

  Result<const Manifest*> Find(const Manifest& from, const std::string& target) const {
    const size_t slash = target.find('/');
    const api::Kind* kind = api::FindResource(target.substr(0, slash));
    if (slash == std::string::npos || kind == nullptr)
      return Wrong(from, "\"" + target + "\" is not of the form KIND/NAME, such as tfjob/train");
    const api::ObjectKey key{std::string(kind->kind), from.key.ns, target.substr(slash + 1)};
    const auto it = std::ranges::find(manifests_, key, &Manifest::key);
    if (it == manifests_.end()) return Wrong(from, target + " is not among these manifests");
    return &*it;
  }

  Result<size_t> StageOf(const Manifest& manifest) {
    const auto known = stages_.find(manifest.key);
    if (known != stages_.end()) {
      if (known->second == kUnderWay) return Wrong(manifest, "these objects wait for each other");
      return known->second;
    }
    stages_[manifest.key] = kUnderWay;
    size_t stage = 0;
    for (const std::string& part : Split(RunAfter(manifest), ',')) {
      const std::string target(Trim(part));
      if (target.empty()) continue;
      ASSIGN_OR_RETURN(const Manifest* before, Find(manifest, target));
      ASSIGN_OR_RETURN(const size_t earlier, StageOf(*before));
      stage = std::max(stage, earlier + 1);
    }
    return stages_[manifest.key] = stage;
  }

  static constexpr size_t kUnderWay = static_cast<size_t>(-1);
  const std::vector<Manifest>& manifests_;
  std::map<api::ObjectKey, size_t> stages_;
};

}  // namespace

Result<std::vector<std::vector<Manifest>>> InStages(const std::vector<Manifest>& manifests) {
  return Stager(manifests).Run();
}

}  // namespace tfemu::cli
