#include "emulator/rpc/pod_target.h"

namespace tfemu::rpc {

Result<api::PodView> RunningPod(const manager::Registry& registry, const api::ObjectKey& key) {
  ASSIGN_OR_RETURN(const auto object, registry.Get(key));
  auto pod = api::ViewPod(object);
  if (pod.over())
    return Error{Reason::kBadRequest, "pod \"" + pod.name + "\" is over (" + pod.status_word + ")",
                 "its output is kept: tfemu logs " + pod.name};
  if (pod.phase != "Running")
    return Error{
        Reason::kBadRequest, "pod \"" + pod.name + "\" is not running yet (" + pod.status_word + ")",
        pod.unschedulable.empty() ? "tfemu describe pod " + pod.name + " says why" : pod.unschedulable};
  return pod;
}

Result<std::string> RunningContainer(const api::PodView& pod, const std::string& container) {
  const std::string& name = container.empty() ? pod.default_container : container;
  const auto* found = pod.Find(name);
  if (found == nullptr)
    return Error{Reason::kNotFound, "container \"" + name + "\" is not in pod \"" + pod.name + "\""};
  if (found->state != api::ContainerView::State::kRunning)
    return Error{Reason::kBadRequest, "container \"" + name + "\" of pod \"" + pod.name +
                                          "\" is not running" +
                                          (found->reason.empty() ? "" : " (" + found->reason + ")")};
  return name;
}

}  // namespace tfemu::rpc
