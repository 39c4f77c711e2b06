// When a CronJob is due: five fields, or @hourly and its like, in UTC (github.com/robfig/cron, as Kubernetes
// uses it).
#pragma once

#include <bitset>
#include <optional>
#include <string>

#include "emulator/base/executor.h"
#include "emulator/base/result.h"

namespace tfemu::api {

class CronSchedule {
 public:
  static Result<CronSchedule> Parse(const std::string& text);
  // The first time after `after`; nullopt when there is none within some years (the 30th of February).
  std::optional<Instant> Next(Instant after) const;

 private:
  struct Field {
    std::bitset<64> values;
    bool any = false;  // "*": the other of the two day fields decides
  };
  static Result<Field> ParseField(const std::string& text, size_t index);
  bool IsDay(int64_t days) const;

  std::optional<Duration> every_;  // "@every 90s"
  Field minute_, hour_, day_, month_, weekday_;
};

}  // namespace tfemu::api
