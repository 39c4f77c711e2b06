#include "emulator/manager/action_applier.h"

#include <nlohmann/json.hpp>
#include <set>

#include "emulator/base/strings.h"

namespace tfemu::manager {
namespace {

// In the words of a client of the API: `Pod "p" is invalid: [a: x, b: y]`.
std::string Sentence(const Error& error) {
  constexpr std::string_view kArticle = "The ";
  std::string text = error.message.substr(error.message.starts_with(kArticle) ? kArticle.size() : 0);
  std::vector<std::string> fields;
  for (const FieldMessage& field : error.fields) fields.push_back(field.field + ": " + field.message);
  if (fields.empty() || error.reason != Reason::kInvalid) return text;
  return text + ": " + (fields.size() == 1 ? fields.front() : "[" + Join(fields, ", ") + "]");
}

// Whether `action` may be carried out although others, of these groups, have failed.
bool Independent(const controllers::Action& action, const std::set<std::string>& failed) {
  if (const auto* create = std::get_if<controllers::CreateObject>(&action))
    return !create->group.empty() && !failed.contains("") && !failed.contains(create->group);
  return false;
}

}  // namespace

Result<void> ActionApplier::Apply(const std::vector<controllers::Action>& actions) {
  Result<void> first;
  std::set<std::string> failed;
  for (const auto& action : actions) {
    if (!first.ok() && !Independent(action, failed)) continue;
    auto done = std::visit([this](const auto& a) { return Do(a); }, action);
    if (done.ok()) continue;
    const auto* create = std::get_if<controllers::CreateObject>(&action);
    failed.insert(create == nullptr ? "" : create->group);
    if (first.ok()) first = std::move(done);
  }
  return first;
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
