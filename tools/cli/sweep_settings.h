// What a sweep varies: --set KEY=V1,V2 as settings, their combinations, and putting one into a TFJob.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/base/result.h"

namespace tfemu::cli {

struct Setting {
  std::string key;                  // "Worker.replicas", "arg:--batch_size", "env:NAME", "spec.runPolicy.x"
  std::vector<std::string> values;  // at least one
};

// One value for each key, in the order of the settings.
using Assignment = std::vector<std::pair<std::string, std::string>>;

// "KEY=V1,V2,..."; "\," is a comma within a value.
Result<Setting> ParseSetting(const std::string& text);
Result<std::vector<Setting>> ParseSettings(const std::vector<std::string>& texts);
// All combinations; the last setting changes fastest.
std::vector<Assignment> Combine(const std::vector<Setting>& settings);
// "Worker.replicas=2 arg:--batch_size=32"
std::string Describe(const Assignment& assignment);

// Changes a TFJob's document. A replica type or path that is not there is refused with near matches.
Result<void> ApplySetting(api::Json& job, const std::string& key, const std::string& value);
Result<void> ApplyAssignment(api::Json& job, const Assignment& assignment);
// The same job under another name, cut so that its pods' names stay legal.
std::string NameOfRun(const std::string& job, const Assignment& assignment, int repeat);

}  // namespace tfemu::cli
