// What a controller wants done. Reconcilers return these; the manager carries them out in order. After one
// that fails only creations of other groups are still carried out, and the whole is tried again.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "emulator/api/event.h"
#include "emulator/api/object.h"
#include "emulator/base/executor.h"

namespace tfemu::controllers {

// Events to emit with the outcome. In `success`, {name} stands for the name of the object that was made;
// `failure` gets ": <error>" behind its message.
struct Announcement {
  std::optional<api::Event> success, failure;
  friend bool operator==(const Announcement&, const Announcement&) = default;
};

struct CreateObject {
  api::Object object;
  Announcement events;
  std::string group = {};  // when one fails, those after it in its group wait
};

// Gone already, or terminating already, is success without an event.
struct DeleteObject {
  api::ObjectKey key;
  std::string uid;
  Announcement events;
};

// A merge patch at `pointer` ("" is the whole document, "/status" the status).
struct PatchObject {
  api::ObjectKey key;
  std::string uid;
  std::string pointer;
  api::Object patch;
};

struct EmitEvent {
  api::Event event;
};

using Action = std::variant<CreateObject, DeleteObject, PatchObject, EmitEvent>;

struct Plan {
  std::vector<Action> actions;
  std::optional<Duration> requeue_after;  // look again then, whatever happens meanwhile
};

}  // namespace tfemu::controllers
