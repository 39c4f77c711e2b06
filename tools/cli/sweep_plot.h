// A sweep as a picture: an SVG of its own, and a page that holds it with the table.
#pragma once

#include <optional>
#include <string>

#include "tools/cli/sweep_results.h"

namespace tfemu::cli {

struct Reference {
  std::string label;
  double value = 0;
};

// "LABEL=NUMBER"
Result<Reference> ParseReference(const std::string& text);

// Self-contained: no font, script or style from elsewhere. With an ideal line when x counts replicas.
std::string PlotSweep(const SweepResults& results, const std::vector<Reference>& references);
std::string SweepPage(const SweepResults& results, const std::string& plot, const std::string& command);

// Steps of 1, 2, 2.5 or 5 times a power of ten, from zero to at least `largest`.
std::vector<double> Ticks(double largest);

}  // namespace tfemu::cli
