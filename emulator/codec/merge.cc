#include "emulator/codec/merge.h"

#include <nlohmann/json.hpp>

namespace tfemu::codec {

using nlohmann::json;

json ThreeWayMerge(const json& last_applied, const json& desired, const json& live) {
  if (!desired.is_object() || !live.is_object()) return desired;
  json merged = live;
  if (last_applied.is_object())
    for (const auto& [key, value] : last_applied.items())
      if (!desired.contains(key)) merged.erase(key);
  for (const auto& [key, value] : desired.items()) {
    // A null in a manifest means "not set", for the server fills nothing in for it.
    if (value.is_null()) {
      merged.erase(key);
      continue;
    }
    const auto before = last_applied.is_object() ? last_applied.find(key) : last_applied.end();
    const auto now = live.find(key);
    if (now == live.end()) merged[key] = value;
    else merged[key] = ThreeWayMerge(before == last_applied.end() ? json() : *before, value, *now);
  }
  return merged;
}

}  // namespace tfemu::codec
