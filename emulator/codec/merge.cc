#include "emulator/codec/merge.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tfemu::codec {
namespace {

using nlohmann::json;

constexpr const char* kName = "name";

bool HasNamedItems(const json& list) {
  std::set<std::string> names;
  if (!list.is_array()) return false;
  for (const auto& item : list)
    if (!item.is_object() || !item.contains(kName) || !item[kName].is_string() ||
        !names.insert(item[kName].get<std::string>()).second)
      return false;
  return !list.empty();
}

const json* FindNamed(const json& list, const json& name) {
  if (!HasNamedItems(list)) return nullptr;
  for (const auto& item : list)
    if (item[kName] == name) return &item;
  return nullptr;
}

json Merge(const json* last_applied, const json& desired, const json& live);

// In the manifest's order, then what only the live list has.
json MergeNamed(const json* last_applied, const json& desired, const json& live) {
  json merged = json::array();
  const auto last = [&](const json& name) {
    return last_applied == nullptr ? nullptr : FindNamed(*last_applied, name);
  };
  for (const auto& item : desired) {
    const json* now = FindNamed(live, item[kName]);
    merged.push_back(now == nullptr ? item : Merge(last(item[kName]), item, *now));
  }
  for (const auto& item : live)
    if (FindNamed(desired, item[kName]) == nullptr && last(item[kName]) == nullptr) merged.push_back(item);
  return merged;
}

const json* Member(const json* object, const std::string& key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

json Merge(const json* last_applied, const json& desired, const json& live) {
  if (HasNamedItems(desired) && HasNamedItems(live)) return MergeNamed(last_applied, desired, live);
  if (!desired.is_object() || !live.is_object()) return desired;
  json merged = live;
  if (last_applied != nullptr && last_applied->is_object())
    for (const auto& [key, value] : last_applied->items())
      if (!desired.contains(key)) merged.erase(key);
  for (const auto& [key, value] : desired.items()) {
    // A null in a manifest means "not set": the server fills nothing in for it.
    const auto now = live.find(key);
    if (value.is_null()) merged.erase(key);
    else if (now == live.end()) merged[key] = value;
    else merged[key] = Merge(Member(last_applied, key), value, *now);
  }
  return merged;
}

}  // namespace

json ThreeWayMerge(const json& last_applied, const json& desired, const json& live) {
  return Merge(&last_applied, desired, live);
}

}  // namespace tfemu::codec
