#include "emulator/manager/controller.h"

namespace tfemu::manager {

Controller::Controller(Executor& executor, ActionApplier& applier, Mapper mapper, Reconciler reconciler)
    : applier_(applier),
      mapper_(std::move(mapper)),
      reconciler_(std::move(reconciler)),
      queue_(executor, [this](const api::ObjectKey& key) { return Sync(key); }) {}

void Controller::OnWatch(const store::WatchEvent& event) {
  for (const api::ObjectKey& key : mapper_(event)) queue_.Add(key);
}

Result<void> Controller::Sync(const api::ObjectKey& key) {
  const auto plan = reconciler_(key);
  if (!plan) return {};
  RETURN_IF_ERROR(applier_.Apply(plan->actions));
  if (plan->requeue_after) queue_.AddAfter(key, *plan->requeue_after);
  return {};
}

}  // namespace tfemu::manager
