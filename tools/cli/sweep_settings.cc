#include "tools/cli/sweep_settings.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/base/rng.h"
#include "emulator/base/strings.h"
#include "tools/cli/sweep_path.h"
#include "tools/cli/targets.h"

namespace tfemu::cli {
namespace {

using api::Json;

constexpr size_t kLongestBase = 40;  // service names end in "-worker-12" and have at most 63 characters
constexpr std::string_view kContainer = "tensorflow";

Error Wrong(const std::string& key, const std::string& message, const std::string& hint = {}) {
  return Error{Reason::kBadRequest, "--set " + key + ": " + message, hint};
}

std::vector<std::string> SplitValues(std::string_view text) {
  std::vector<std::string> values(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') values.back() += text[++i];
    else if (text[i] == ',') values.emplace_back();
    else values.back() += text[i];
  }
  return values;
}

// "Worker.arg:--x" has the prefix "Worker"; "arg:--x" has none. False when the key is no arg: or env: key.
struct Special {
  std::string replica, kind, name;  // kind: "arg", "env"
};
std::optional<Special> ParseSpecial(const std::string& key) {
  for (const std::string kind : {"arg:", "env:"}) {
    if (key.starts_with(kind)) return Special{"", kind.substr(0, 3), key.substr(4)};
    const size_t at = key.find("." + kind);
    if (at != std::string::npos && key.find('.') == at)
      return Special{key.substr(0, at), kind.substr(0, 3), key.substr(at + 5)};
  }
  return std::nullopt;
}

void SetArgument(Json& container, const std::string& flag, const std::string& value) {
  // A shell's command line is one text; a flag can only be put after it where the manifest has a list.
  Json& args = container["args"];
  if (!args.is_array()) args = Json::array();
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is_string()) continue;
    const std::string word = args[i];
    if (word.starts_with(flag + "=")) {
      args[i] = flag + "=" + value;
      return;
    }
    if (word == flag && i + 1 < args.size()) {
      args[i + 1] = value;
      return;
    }
  }
  args.push_back(flag + "=" + value);
}

void SetVariable(Json& container, const std::string& name, const std::string& value) {
  Json& env = container["env"];
  if (!env.is_array()) env = Json::array();
  for (auto& variable : env)
    if (variable.is_object() && variable.value("name", Json()) == name) {
      variable = {{"name", name}, {"value", value}};
      return;
    }
  env.push_back({{"name", name}, {"value", value}});
}

// Every replica type's training container, or one type's.
Result<std::vector<Json*>> Containers(Json& job, const std::string& key, const std::string& replica) {
  std::vector<Json*> found;
  ASSIGN_OR_RETURN(Json * replicas, ReplicaSpecs(job, key));
  if (!replica.empty() && !replicas->contains(replica)) return UnknownReplica(*replicas, key, replica);
  for (auto& [type, spec] : replicas->items()) {
    if (!replica.empty() && type != replica) continue;
    Json* containers = Find(spec, {"template", "spec", "containers"});
    if (containers == nullptr || !containers->is_array()) continue;
    for (auto& container : *containers)
      if (container.is_object() && container.value("name", Json()) == kContainer) found.push_back(&container);
  }
  if (found.empty()) return Wrong(key, "the job has no container named " + std::string(kContainer));
  return found;
}

}  // namespace

Result<Setting> ParseSetting(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string example = "write KEY=V1,V2, such as Worker.replicas=1,2 or arg:--batch_size=32,64";
  if (equals == std::string::npos || equals == 0)
    return Error{Reason::kBadRequest, "--set \"" + text + "\" has no " + (equals == 0 ? "key" : "\"=\""),
                 example};
  Setting setting{text.substr(0, equals), SplitValues(std::string_view(text).substr(equals + 1))};
  if (setting.values.size() == 1 && setting.values.front().empty())
    return Wrong(setting.key, "the list of values is empty", example);
  for (size_t i = 0; i < setting.values.size(); ++i) {
    if (setting.values[i].empty()) return Wrong(setting.key, "an empty value between commas", example);
    if (std::find(setting.values.begin(), setting.values.begin() + static_cast<ptrdiff_t>(i),
                  setting.values[i]) != setting.values.begin() + static_cast<ptrdiff_t>(i))
      return Wrong(setting.key, "the value " + setting.values[i] + " stands there twice",
                   "--repeat N runs each point N times");
  }
  if (const auto special = ParseSpecial(setting.key); special && special->name.empty())
    return Wrong(setting.key, "a name is missing after \"" + special->kind + ":\"", example);
  return setting;
}

Result<std::vector<Setting>> ParseSettings(const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  size_t points = 1;
  for (const auto& text : texts) {
    ASSIGN_OR_RETURN(auto setting, ParseSetting(text));
    if (std::ranges::find(settings, setting.key, &Setting::key) != settings.end())
      return Wrong(setting.key, "is given twice", "one --set with all its values");
    points *= setting.values.size();
    if (points > 1000)
      return Error{Reason::kBadRequest, "more than 1000 combinations", "fewer values, or several sweeps"};
    settings.push_back(std::move(setting));
  }
  return settings;
}

std::vector<Assignment> Combine(const std::vector<Setting>& settings) {
  std::vector<Assignment> all(1);
  for (const auto& setting : settings) {
    std::vector<Assignment> longer;
    for (const auto& begun : all)
      for (const auto& value : setting.values) {
        longer.push_back(begun);
        longer.back().emplace_back(setting.key, value);
      }
    all = std::move(longer);
  }
  return all;
}

std::string Describe(const Assignment& assignment) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : assignment) parts.push_back(key + "=" + value);
  return parts.empty() ? "as it is" : Join(parts, " ");
}

Result<void> ApplySetting(Json& job, const std::string& key, const std::string& value) {
  const auto special = ParseSpecial(key);
  if (!special) return SetPath(job, key, value);
  ASSIGN_OR_RETURN(const auto containers, Containers(job, key, special->replica));
  for (Json* container : containers)
    special->kind == "arg" ? SetArgument(*container, special->name, value)
                           : SetVariable(*container, special->name, value);
  return {};
}

Result<void> ApplyAssignment(Json& job, const Assignment& assignment) {
  for (const auto& [key, value] : assignment) RETURN_IF_ERROR(ApplySetting(job, key, value));
  return {};
}

std::string NameOfRun(const std::string& job, const Assignment& assignment, int repeat) {
  std::string base = job.substr(0, kLongestBase);
  while (!base.empty() && base.back() == '-') base.pop_back();
  const uint64_t hash = Fnv1a(job + "\n" + Describe(assignment));
  return fmt::format("{}-{:05x}{}", base, hash & 0xfffff, repeat > 1 ? "-" + std::to_string(repeat) : "");
}

}  // namespace tfemu::cli
