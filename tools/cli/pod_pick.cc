#include "tools/cli/pod_pick.h"

#include "emulator/api/view.h"
#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"

namespace tfemu::cli {

Result<PickedPod> PickPod(rpc::Client& client, const Target& target, const std::string& ns) {
  ASSIGN_OR_RETURN(auto object, GetObject(client, KeyOf(target, ns)));
  if (target.kind->kind == "Pod") return PickedPod{std::move(object), {}};
  const auto selector = api::PodSelectorOf(object);
  ASSIGN_OR_RETURN(const auto pods, ListObjects(client, {"Pod", ns, ""}));
  bool any = false;
  for (const auto& pod : pods.objects) {
    const auto owner = api::ControllerOf(pod);
    const bool owned = owner && owner->uid == object.uid();
    const bool selected = !selector.empty() && selector.Matches(api::LabelsOf(pod));
    if (!owned && !selected) continue;
    any = true;
    const auto view = api::ViewPod(pod);
    if (view.phase != "Running" || view.terminating) continue;
    std::optional<api::Object> service;
    if (target.kind->kind == "Service") service = object;
    return PickedPod{pod, std::move(service)};
  }
  const std::string name = std::string(target.kind->singular) + "/" + target.name;
  return Error{Reason::kUnavailable, any ? "no pod of " + name + " is running yet" : name + " has no pods",
               "tfemu describe " + std::string(target.kind->singular) + " " + target.name + " says why"};
}

}  // namespace tfemu::cli
