#include "tools/cli/sweep_path.h"

#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"
#include "tools/cli/targets.h"

namespace tfemu::cli {
namespace {

using api::Json;

Error Wrong(const std::string& key, const std::string& message, const std::string& hint = {}) {
  return Error{Reason::kBadRequest, "--set " + key + ": " + message, hint};
}

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

// "a.b[2]" as a, b, [2]; quotes keep dots together.
Result<std::vector<std::string>> Parts(const std::string& path) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : path) {
    if (c == '"') quoted = !quoted;
    else if (c == '.' && !quoted) parts.emplace_back();
    else if (c == '[' && !quoted) parts.emplace_back("[");
    else parts.back() += c;
  }
  if (quoted) return Wrong(path, "a quote is not closed");
  for (const auto& part : parts)
    if (part.empty())
      return Wrong(path, "an empty part", "parts are separated by one dot: spec.runPolicy.backoffLimit");
  return parts;
}

std::string Alternatives(const Json& at, const std::string& part) {
  if (at.is_array())
    return at.empty() ? "the list is empty" : "items are [0] to [" + std::to_string(at.size() - 1) + "]";
  if (!at.is_object() || at.empty()) return "nothing is below it";
  const auto keys = Keys(at);
  const std::string closest = Closest(part, keys);
  for (const auto& key : keys)  // Closest compares in lower case
    if (ToLower(key) == ToLower(part)) return "did you mean \"" + key + "\"?";
  return closest.empty() ? "there is " + Join(keys, ", ") : "did you mean \"" + closest + "\"?";
}

// The child, or null.
Json* Child(Json& at, const std::string& part) {
  if (at.is_array() && part.starts_with('[') && part.ends_with(']')) {
    const auto index = ParseInt(std::string_view(part).substr(1, part.size() - 2));
    return index && *index >= 0 && static_cast<size_t>(*index) < at.size() ? &at[static_cast<size_t>(*index)]
                                                                           : nullptr;
  }
  if (!at.is_object()) return nullptr;
  const auto found = at.find(part);
  return found == at.end() ? nullptr : &*found;
}

// A field that is not there yet may be meant, unless one beside it is nearly called so.
bool MayBeNew(const Json& at, const std::string& part) {
  if (!at.is_object()) return false;
  std::vector<std::string> lower;
  for (const auto& key : Keys(at)) lower.push_back(ToLower(key));
  return Closest(part, lower).empty();
}

Json Scalar(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto number = ParseInt(text); number && std::to_string(*number) == text) return *number;
  return text;
}

}  // namespace

Json* Find(Json& value, const std::vector<std::string>& parts) {
  Json* at = &value;
  for (const auto& part : parts)
    if (at == nullptr || (at = Child(*at, part)) == nullptr) return nullptr;
  return at;
}

Result<Json*> ReplicaSpecs(Json& job, const std::string& key) {
  Json* replicas = Find(job, {"spec", "tfReplicaSpecs"});
  if (replicas == nullptr || !replicas->is_object()) return Wrong(key, "the job has no spec.tfReplicaSpecs");
  return replicas;
}

Error UnknownReplica(const Json& replicas, const std::string& key, const std::string& name) {
  return Wrong(key, "the job has no replica type \"" + name + "\"", Alternatives(replicas, name));
}

Result<void> SetPath(Json& job, const std::string& path, const std::string& value) {
  ASSIGN_OR_RETURN(auto parts, Parts(path));
  Json* at = &job;
  size_t next = 0;
  if (!job.contains(parts.front())) {  // the short form begins with a replica type
    ASSIGN_OR_RETURN(at, ReplicaSpecs(job, path));
    if (!at->contains(parts.front())) return UnknownReplica(*at, path, parts.front());
    if (parts.size() == 1) return Wrong(path, "a field is missing", "such as " + path + ".replicas");
  }
  for (; next + 1 < parts.size(); ++next) {
    Json* child = Child(*at, parts[next]);
    if (child == nullptr) return Wrong(path, "there is no " + parts[next], Alternatives(*at, parts[next]));
    at = child;
  }
  Json* last = Child(*at, parts.back());
  if (last == nullptr) {
    if (!MayBeNew(*at, parts.back()))
      return Wrong(path, "there is no " + parts.back(), Alternatives(*at, parts.back()));
    last = &(*at)[parts.back()];
  }
  if (last->is_object() || last->is_array())
    return Wrong(path, "is not a single value",
                 "go on with one of: " +
                     Join(last->is_object() ? Keys(*last) : std::vector<std::string>{"[0]"}, ", "));
  // What was text stays text: an annotation "true" is not a boolean.
  *last = last->is_string() || path.find("annotations") != std::string::npos ||
                  path.find("labels") != std::string::npos
              ? Json(value)
              : Scalar(value);
  return {};
}

}  // namespace tfemu::cli
