#include "emulator/api/cron_schedule.h"

#include <algorithm>
#include <chrono>

#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kMinutesOfDay = 24 * 60;
constexpr int64_t kDaysAhead = 5 * 366;

struct Bounds {
  const char* name;
  int64_t low, high;
  std::vector<std::string> words;  // for low, low + 1, …
};
const Bounds kFields[] = {
    {"minute", 0, 59, {}},
    {"hour", 0, 23, {}},
    {"day of month", 1, 31, {}},
    {"month", 1, 12, {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
    {"day of week", 0, 6, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}};

constexpr std::pair<const char*, const char*> kNicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"}};

Error Bad(const std::string& what) { return {Reason::kInvalid, what}; }

std::optional<int64_t> Number(const std::string& text, const Bounds& bounds) {
  const auto word = std::ranges::find(bounds.words, ToLower(text));
  if (word != bounds.words.end()) return bounds.low + (word - bounds.words.begin());
  return ParseInt(text);
}

// "1h30m", "90s".
std::optional<Duration> ParseDelay(const std::string& text) {
  Duration sum{0};
  std::string digits;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      digits += c;
      continue;
    }
    const auto count = ParseInt(digits);
    const int64_t unit = c == 'h' ? 3600 : c == 'm' ? 60 : c == 's' ? 1 : 0;
    if (!count || unit == 0) return std::nullopt;
    sum += std::chrono::seconds(*count * unit);
    digits.clear();
  }
  return digits.empty() && sum >= std::chrono::seconds(1) ? std::optional(sum) : std::nullopt;
}

}  // namespace

Result<CronSchedule::Field> CronSchedule::ParseField(const std::string& text, size_t index) {
  const Bounds& bounds = kFields[index];
  Field field;
  for (const std::string& part : Split(text, ',')) {
    const size_t slash = part.find('/');
    const std::string range = part.substr(0, slash);
    const auto step =
        slash == std::string::npos ? std::optional<int64_t>(1) : ParseInt(part.substr(slash + 1));
    int64_t low = bounds.low, high = bounds.high;
    if (range != "*" && range != "?") {
      const size_t dash = range.find('-');
      const auto first = Number(range.substr(0, dash), bounds);
      const auto last = dash == std::string::npos ? first : Number(range.substr(dash + 1), bounds);
      if (!first || !last) return Bad("failed to parse " + std::string(bounds.name) + " \"" + part + "\"");
      low = *first;
      high = dash == std::string::npos && slash != std::string::npos ? bounds.high : *last;
    } else if (step == 1) {
      field.any = true;
    }
    if (!step || *step < 1 || low < bounds.low || high > bounds.high || low > high)
      return Bad(std::string(bounds.name) + " \"" + part + "\" is not within " + std::to_string(bounds.low) +
                 " to " + std::to_string(bounds.high));
    for (int64_t value = low; value <= high; value += *step) field.values.set(static_cast<size_t>(value));
  }
  return field;
}

Result<CronSchedule> CronSchedule::Parse(const std::string& text) {
  CronSchedule schedule;
  std::string spec(Trim(text));
  if (spec.starts_with("TZ=") || spec.starts_with("CRON_TZ="))
    return Bad("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  if (spec.starts_with("@every ")) {
    schedule.every_ = ParseDelay(spec.substr(7));
    if (!schedule.every_) return Bad("failed to parse duration \"" + spec + "\"");
    return schedule;
  }
  for (const auto& [name, meaning] : kNicknames)
    if (spec == name) spec = meaning;
  std::vector<std::string> words;
  for (const std::string& word : Split(spec, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.size() != 5)
    return Bad("expected exactly 5 fields, found " + std::to_string(words.size()) + ": \"" + text + "\"");
  Field* const fields[] = {&schedule.minute_, &schedule.hour_, &schedule.day_, &schedule.month_,
                           &schedule.weekday_};
  for (size_t i = 0; i < words.size(); ++i) {
    ASSIGN_OR_RETURN(*fields[i], ParseField(words[i], i));
  }
  return schedule;
}

bool CronSchedule::IsDay(int64_t days) const {
  const std::chrono::sys_days day{std::chrono::days(days)};
  const std::chrono::year_month_day date(day);
  if (!month_.values.test(static_cast<unsigned>(date.month()))) return false;
  const bool by_date = day_.values.test(static_cast<unsigned>(date.day()));
  const bool by_weekday = weekday_.values.test(std::chrono::weekday(day).c_encoding());
  return day_.any || weekday_.any ? by_date && by_weekday : by_date || by_weekday;
}

std::optional<Instant> CronSchedule::Next(Instant after) const {
  if (every_) return Instant{after.ns - after.ns % kSecond + every_->count()};
  const int64_t first = after.ns / (60 * kSecond) + 1;  // minutes since 1970
  for (int64_t day = first / kMinutesOfDay; day < first / kMinutesOfDay + kDaysAhead; ++day) {
    if (!IsDay(day)) continue;
    for (int64_t minute = std::max(first, day * kMinutesOfDay); minute < (day + 1) * kMinutesOfDay;
         ++minute) {
      const int64_t of_day = minute % kMinutesOfDay;
      if (hour_.values.test(static_cast<size_t>(of_day / 60)) &&
          minute_.values.test(static_cast<size_t>(of_day % 60)))
        return Instant{minute * 60 * kSecond};
    }
  }
  return std::nullopt;
}

}  // namespace tfemu::api
