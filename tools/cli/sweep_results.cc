#include "tools/cli/sweep_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "emulator/codec/table.h"

namespace tfemu::cli {
namespace {

using api::Json;

constexpr int kFormat = 1;

std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> Number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

// Replicas if they vary, else the first setting that does.
const Setting* Axis(const std::vector<Setting>& settings) {
  const Setting* axis = nullptr;
  for (const auto& setting : settings) {
    if (setting.values.size() < 2) continue;
    if (axis == nullptr || (setting.key.ends_with(".replicas") && !axis->key.ends_with(".replicas")))
      axis = &setting;
  }
  return axis != nullptr ? axis : settings.empty() ? nullptr : &settings.front();
}

std::string ValueOf(const Assignment& assignment, const std::string& key) {
  for (const auto& [name, value] : assignment)
    if (name == key) return value;
  return {};
}

std::optional<double> Compared(const SweepPoint& point, bool by_wall) {
  return by_wall ? point.wall_seconds() : point.total();
}

void Relate(Series& series, const Comparison& comparison, bool by_wall) {
  if (series.points.empty()) return;
  const SeriesPoint first = series.points.front();
  if (first.y <= 0) return;
  for (auto& point : series.points) {
    if (point.y <= 0) continue;
    point.speedup = by_wall ? first.y / point.y : point.y / first.y;
    if (comparison.scales && first.x_value && point.x_value && *first.x_value > 0 && *point.x_value > 0)
      point.efficiency = *point.speedup / (*point.x_value / *first.x_value);
  }
}

std::string Cell(std::optional<double> value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::optional<double> SweepPoint::wall_seconds() const {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(run.wall_seconds);
  return Median(std::move(values));
}

std::optional<double> SweepPoint::total() const {
  std::vector<double> values;
  for (const auto& run : runs)
    if (run.figures) values.push_back(run.figures->total);
  return Median(std::move(values));
}

std::optional<double> SweepPoint::per_pod() const {
  std::vector<double> values;
  for (const auto& run : runs)
    if (run.figures) values.push_back(run.figures->per_pod);
  return Median(std::move(values));
}

Comparison Compare(const SweepResults& results) {
  Comparison comparison;
  const Setting* axis = Axis(results.settings);
  comparison.x_key = axis == nullptr ? "" : axis->key;
  comparison.scales = comparison.x_key.ends_with(".replicas");
  comparison.y_label = results.by_wall ? "wall time in seconds" : "total " + results.unit;
  for (const auto& point : results.points) {
    const auto y = Compared(point, results.by_wall);
    if (!y) continue;
    Assignment rest = point.assignment;
    std::erase_if(rest, [&](const auto& entry) { return entry.first == comparison.x_key; });
    std::erase_if(rest, [&](const auto& entry) {  // what is the same everywhere names nothing
      const auto setting = std::ranges::find(results.settings, entry.first, &Setting::key);
      return setting != results.settings.end() && setting->values.size() == 1;
    });
    const std::string name = rest.empty() ? "" : Describe(rest);
    auto series = std::ranges::find(comparison.series, name, &Series::name);
    if (series == comparison.series.end()) series = comparison.series.insert(series, {name, {}});
    const std::string x = ValueOf(point.assignment, comparison.x_key);
    series->points.push_back({x, Number(x), *y, point.per_pod(), {}, {}});
  }
  for (auto& series : comparison.series) {
    const bool numeric =
        std::ranges::all_of(series.points, [](const auto& point) { return point.x_value.has_value(); });
    if (numeric)
      std::ranges::stable_sort(series.points, {}, [](const SeriesPoint& point) { return *point.x_value; });
    Relate(series, comparison, results.by_wall);
  }
  return comparison;
}

namespace {

// The comparison's figures for one point.
SeriesPoint FindIn(const Comparison& comparison, const SweepResults& results, const SweepPoint& point) {
  SweepResults alone = results;
  alone.points = {point};
  const Comparison one = Compare(alone);
  if (one.series.empty()) return {};
  const auto& wanted = one.series.front();
  for (const auto& series : comparison.series)
    if (series.name == wanted.name)
      for (const auto& found : series.points)
        if (found.x == wanted.points.front().x) return found;
  return {};
}

}  // namespace

std::string FormatSweepTable(const SweepResults& results) {
  const Comparison comparison = Compare(results);
  const bool figures =
      std::ranges::any_of(results.points, [](const auto& point) { return point.total().has_value(); });
  std::vector<Setting> varied = results.settings;  // the others would be the same in every row
  std::erase_if(varied, [](const Setting& setting) { return setting.values.size() == 1; });
  std::vector<std::string> header;
  for (const auto& setting : varied) header.push_back(setting.key);
  if (figures) header.insert(header.end(), {"PER POD", "TOTAL " + results.unit});
  header.insert(header.end(), {"SPEED-UP", "EFFICIENCY", "WALL", "RUNS"});
  std::vector<std::vector<std::string>> rows{header};
  for (const auto& point : results.points) {
    const SeriesPoint related = FindIn(comparison, results, point);
    std::vector<std::string> row;
    for (const auto& setting : varied) row.push_back(ValueOf(point.assignment, setting.key));
    if (figures) row.insert(row.end(), {Cell(point.per_pod(), "{:.2f}"), Cell(point.total(), "{:.2f}")});
    row.push_back(Cell(related.speedup, "{:.2f}x"));
    row.push_back(related.efficiency ? fmt::format("{:.0f} %", *related.efficiency * 100) : "-");
    row.push_back(Cell(point.wall_seconds(), "{:.1f}s"));
    row.push_back(std::to_string(point.runs.size()));
    rows.push_back(std::move(row));
  }
  return codec::LayOut(rows);
}

std::string FormatSweepCsv(const SweepResults& results) {
  const Comparison comparison = Compare(results);
  std::string text;
  for (const auto& setting : results.settings) text += Quoted(setting.key) + ",";
  text += "per_pod,total,unit,speedup,efficiency,wall_seconds,runs\n";
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{:.6g}", *value) : ""; };
  for (const auto& point : results.points) {
    const SeriesPoint related = FindIn(comparison, results, point);
    for (const auto& setting : results.settings) text += Quoted(ValueOf(point.assignment, setting.key)) + ",";
    text += number(point.per_pod()) + "," + number(point.total()) + "," + Quoted(results.unit) + "," +
            number(related.speedup) + "," + number(related.efficiency) + "," + number(point.wall_seconds()) +
            "," + std::to_string(point.runs.size()) + "\n";
  }
  return text;
}

namespace {

Json PointToJson(const SweepPoint& point) {
  Json settings = Json::array(), runs = Json::array();
  for (const auto& [key, value] : point.assignment) settings.push_back({{"key", key}, {"value", value}});
  for (const auto& run : point.runs) {
    Json entry = {{"wallSeconds", run.wall_seconds}};
    if (run.figures)
      entry["figures"] = {
          {"total", run.figures->total}, {"perPod", run.figures->per_pod}, {"pods", run.figures->pods}};
    runs.push_back(std::move(entry));
  }
  return {{"key", point.key}, {"settings", std::move(settings)}, {"runs", std::move(runs)}};
}

SweepPoint PointOf(const Json& entry) {
  SweepPoint point{{}, entry.at("key"), {}};
  for (const auto& setting : entry.at("settings"))
    point.assignment.emplace_back(setting.at("key"), setting.at("value"));
  for (const auto& run : entry.at("runs")) {
    RunResult result{run.at("wallSeconds"), std::nullopt};
    if (run.contains("figures")) {
      const auto& figures = run.at("figures");
      result.figures = Figures{figures.at("pods").get<std::map<std::string, double>>(), figures.at("total"),
                               figures.at("perPod")};
    }
    point.runs.push_back(std::move(result));
  }
  return point;
}

}  // namespace

Json SweepToJson(const SweepResults& results) {
  Json points = Json::array();
  for (const auto& point : results.points) points.push_back(PointToJson(point));
  for (const auto& point : results.others) points.push_back(PointToJson(point));
  return {{"format", kFormat}, {"job", results.job}, {"unit", results.unit}, {"points", std::move(points)}};
}

Result<std::vector<SweepPoint>> PointsFromJson(const std::string& text) {
  const Error broken{Reason::kInvalid, "is no results.json of tfemu sweep", "--fresh starts over"};
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) return broken;
  std::vector<SweepPoint> points;
  try {
    for (const auto& entry : json.at("points")) points.push_back(PointOf(entry));
  } catch (const Json::exception&) {
    return broken;
  }
  return points;
}

}  // namespace tfemu::cli
