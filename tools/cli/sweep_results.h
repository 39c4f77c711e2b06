// What a sweep has found: points with their runs, kept as JSON, shown as a table and as CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "tools/cli/sweep_metric.h"
#include "tools/cli/sweep_settings.h"

namespace tfemu::cli {

struct RunResult {
  double wall_seconds = 0;
  std::optional<Figures> figures;  // nothing when its logs had none
};

struct SweepPoint {
  Assignment assignment;
  std::string key;  // of these settings and this manifest; a kept result counts only for its own
  std::vector<RunResult> runs;

  // Medians over the runs; nothing without runs, or when no run had a figure.
  std::optional<double> wall_seconds() const;
  std::optional<double> total() const;
  std::optional<double> per_pod() const;
};

struct SweepResults {
  std::string job;       // its name in the manifest
  std::string unit;      // of the figures: "images/sec"
  bool by_wall = false;  // compared by wall time instead of figures
  std::vector<Setting> settings;
  std::vector<SweepPoint> points;  // those that are finished, in the order of Combine
  std::vector<SweepPoint> others;  // of earlier calls with other settings; carried along in the JSON only
};

// A series is a set of points that differ in one setting only, which is the plot's x.
struct SeriesPoint {
  std::string x;
  std::optional<double> x_value;  // when x is a number
  double y = 0;
  std::optional<double> per_pod, speedup, efficiency;  // efficiency: of the speed-up that x promises
};
struct Series {
  std::string name;  // the other settings; "" when there are none
  std::vector<SeriesPoint> points;
};
struct Comparison {
  std::string x_key, y_label;
  bool scales = false;  // x counts replicas, so that twice as many promise twice as much
  std::vector<Series> series;
};
Comparison Compare(const SweepResults& results);

std::string FormatSweepTable(const SweepResults& results);
std::string FormatSweepCsv(const SweepResults& results);
api::Json SweepToJson(const SweepResults& results);
// The points of an earlier sweep's results.json; an error when the text is none.
Result<std::vector<SweepPoint>> PointsFromJson(const std::string& text);

}  // namespace tfemu::cli
