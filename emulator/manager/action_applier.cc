#include "emulator/manager/action_applier.h"

#include <nlohmann/json.hpp>

namespace tfemu::manager {
namespace {

std::string Sentence(const Error& error) {
  std::string text = error.message;
  for (const FieldMessage& field : error.fields) text += ": " + field.field + ": " + field.message;
  return text;
}

}  // namespace

Result<void> ActionApplier::Apply(const std::vector<controllers::Action>& actions) {
  for (const auto& action : actions)
    RETURN_IF_ERROR(std::visit([this](const auto& a) { return Do(a); }, action));
  return {};
}

Result<void> ActionApplier::Announce(const controllers::Announcement& events, const std::string& name,
                                     const Result<void>& outcome) {
  if (outcome.ok() && events.success) {
    api::Event event = *events.success;
    if (const size_t at = event.message.find("{name}"); at != std::string::npos)
      event.message.replace(at, 6, name);
    events_.Record(event);
  } else if (!outcome.ok() && events.failure) {
    api::Event event = *events.failure;
    event.message += ": " + Sentence(outcome.error());
    events_.Record(event);
  }
  return outcome;
}

Result<void> ActionApplier::Do(const controllers::CreateObject& action) {
  const auto written = registry_.Create(action.object.doc(), {});
  if (!written.ok()) return Announce(action.events, "", written.error());
  return Announce(action.events, written.value().object.key().name, {});
}

Result<void> ActionApplier::Do(const controllers::DeleteObject& action) {
  const auto live = registry_.Get(action.key);
  if (!live.ok() || live.value().uid() != action.uid || live.value().terminating()) return {};
  const auto deleted = registry_.Delete(action.key, {});
  if (!deleted.ok()) return Announce(action.events, "", deleted.error());
  return Announce(action.events, action.key.name, {});
}

Result<void> ActionApplier::Do(const controllers::PatchObject& action) {
  const auto patched = registry_.Patch(action.key, action.uid, action.pointer, action.patch.doc());
  // Gone meanwhile: nobody is left to be told.
  if (!patched.ok() && patched.error().reason != Reason::kNotFound) return patched.error();
  return {};
}

Result<void> ActionApplier::Do(const controllers::EmitEvent& action) {
  events_.Record(action.event);
  return {};
}

}  // namespace tfemu::manager
