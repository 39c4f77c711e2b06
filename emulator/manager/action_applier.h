// Carries out what a reconciler planned.
#pragma once

#include "emulator/controllers/action.h"
#include "emulator/manager/event_recorder.h"
#include "emulator/manager/registry.h"

namespace tfemu::manager {

class ActionApplier {
 public:
  ActionApplier(Registry& registry, EventRecorder& events) : registry_(registry), events_(events) {}

  // In order, as action.h says; returns why the first failed that did.
  Result<void> Apply(const std::vector<controllers::Action>& actions);

 private:
  Result<void> Do(const controllers::CreateObject& action);
  Result<void> Do(const controllers::DeleteObject& action);
  Result<void> Do(const controllers::PatchObject& action);
  Result<void> Do(const controllers::EmitEvent& action);
  Result<void> Announce(const controllers::Announcement& events, const std::string& name,
                        const Result<void>& outcome);

  Registry& registry_;
  EventRecorder& events_;
};

}  // namespace tfemu::manager
